#!/bin/sh
# Installs what is missing of Docker from the distribution's packages. Usage: engine-install.sh "engine compose buildx"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/debian.sh"

# The release that has Docker's plugins, for the one before it that does not.
OLD_DEBIAN=bookworm
DONOR=trixie

# family: prints the packages for engine, compose and buildx, in this order.
family() {
  if dpkg -s docker-ce-cli >/dev/null 2>&1; then
    # Docker's own packages and the distribution's own the same files: stay with those that are there.
    echo docker-ce docker-compose-plugin docker-buildx-plugin
  elif [ "$(distribution)" = ubuntu ]; then
    echo docker.io docker-compose-v2 docker-buildx
  else
    echo docker.io docker-compose docker-buildx
  fi
}

# packages FAMILY... PARTS: prints the packages of the parts, given the three of the family.
packages() {
  for part in $4; do
    case $part in
      engine) echo "$1 iptables ca-certificates" ;;
      compose) echo "$2" ;;
      buildx) echo "$3" ;;
    esac
  done
  # Debian packs the client by itself. One that came without a package stays; the plugins serve either.
  if [ "$1 $2" = 'docker.io docker-compose' ] && ! has docker; then echo docker-cli; fi
}

# install_from_donor PACKAGE...: packages of the next release, and nothing else of it.
install_from_donor() {
  state=$(mktemp -d)
  trap 'rm -rf "$state"' EXIT
  chmod 755 "$state"
  private_apt "$state/apt" "$(debian_keys "$state")" "$(debian_mirror)" "$OLD_DEBIAN" "$DONOR"
  # runc stays the old release's: the newer one needs a newer C library.
  cat >"$state/apt/preferences/docker" <<PIN
Package: *
Pin: release n=$DONOR
Pin-Priority: -1

Package: docker.io docker-cli docker-compose docker-buildx containerd tini-static
Pin: release n=$DONOR
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
set -- $(packages $(family) "$1")
say "    installing from $(distribution)'s packages: $*"
case "$(os_release VERSION_CODENAME) $1" in
  "$OLD_DEBIAN "*-ce* | "$OLD_DEBIAN "*-plugin) debian_install "$@" ;;
  "$OLD_DEBIAN "*) install_from_donor "$@" ;;
  *) debian_install "$@" ;;
esac
