#!/bin/sh
# Puts a program of a package of Debian 13 into a folder, without an installation. Usage: unpack.sh PACKAGE
# PATH-IN-THE-PACKAGE FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/debian.sh"

has apt-get || die "$1: not found, and this is neither Debian nor Ubuntu"
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
chmod 755 "$state" # apt downloads as its own user
private_apt "$state/apt" "$(debian_keys "$state")" "$(debian_mirror)" trixie
# shellcheck disable=SC2086,SC2154 # a list of options, set by private_apt
(cd "$state" && apt_quiet "$state/log" $private_apt update && apt_quiet "$state/log" $private_apt download "$1")
dpkg-deb -x "$state/$1"_*.deb "$state/unpacked"
mkdir -p "$3"
mv "$state/unpacked/$2" "$3/"
