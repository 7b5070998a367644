#!/bin/sh
# Installs COMMAND from the distribution's PACKAGE if it is missing. Usage: need.sh COMMAND [PACKAGE]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

command=$1
package=${2:-$1}
if has "$command"; then exit 0; fi
can_install ||
  die "$command is missing: install it (Debian, Ubuntu: sudo apt-get install $package; macOS: brew install $package)"
say "    installing $package"
debian_install "$package"
