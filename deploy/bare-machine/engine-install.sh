#!/bin/sh
# Installs the missing parts of Docker from the distribution's packages. Usage: engine-install.sh "engine compose
# buildx"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/debian.sh"

# The old release lacks Docker's plugins; the new one has them.
OLD_DEBIAN=bookworm
NEW_DEBIAN=trixie

# package_names: prints the packages for engine, compose and buildx, in this order.
package_names() {
  if dpkg -s docker-ce-cli >/dev/null 2>&1; then
    # Docker's own packages and the distribution's contain the same files: use the ones that are installed.
    echo docker-ce docker-compose-plugin docker-buildx-plugin
  elif [ "$(distribution)" = ubuntu ]; then
    echo docker.io docker-compose-v2 docker-buildx
  else
    echo docker.io docker-compose docker-buildx
  fi
}

# packages ENGINE COMPOSE BUILDX PARTS: prints the packages of the parts, given the three names.
packages() {
  for part in $4; do
    case $part in
      engine) echo "$1 iptables ca-certificates" ;;
      compose) echo "$2" ;;
      buildx) echo "$3" ;;
    esac
  done
  # Debian's client is a package of its own. A client from elsewhere is kept; the plugins work with it.
  if [ "$1 $2" = 'docker.io docker-compose' ] && ! has docker; then echo docker-cli; fi
}

# install_from_new_debian PACKAGE...: installs these packages of the new release, and no others of it.
install_from_new_debian() {
  state=$(mktemp -d)
  trap 'rm -rf "$state"' EXIT
  chmod 755 "$state"
  private_apt "$state/apt" "$(debian_keys "$state")" "$(debian_mirror)" "$OLD_DEBIAN" "$NEW_DEBIAN"
  # runc comes from the old release, because the new one needs a newer C library.
  cat >"$state/apt/preferences/docker" <<PIN
Package: *
Pin: release n=$NEW_DEBIAN
Pin-Priority: -1

Package: docker.io docker-cli docker-compose docker-buildx containerd tini-static
Pin: release n=$NEW_DEBIAN
Pin-Priority: 990
PIN
  log=$(mktemp)
  # shellcheck disable=SC2086 # a list of options
  apt_quiet "$log" $private_apt update || apt_failed "$log" "package lists"
  # shellcheck disable=SC2086
  apt_quiet "$log" $private_apt install --no-install-recommends runc "$@" || apt_failed "$log" "$*"
  rm -f "$log"
}

# shellcheck disable=SC2046 # lists
set -- $(packages $(package_names) "$1")
case "$(os_release VERSION_CODENAME) $1" in
  "$OLD_DEBIAN docker.io"* | "$OLD_DEBIAN docker-compose" | "$OLD_DEBIAN docker-buildx")
    say "    installing from Debian $NEW_DEBIAN, the next release; a pin keeps every other package on $OLD_DEBIAN: $*"
    install_from_new_debian "$@"
    ;;
  *)
    say "    installing from $(distribution)'s packages: $*"
    debian_install "$@"
    ;;
esac
