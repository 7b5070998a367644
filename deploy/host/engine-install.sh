#!/bin/sh
# Installs what is missing of Docker from the distribution's packages. Usage: engine-install.sh "engine compose buildx"
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

# The release that has Docker's plugins, for the one before it that does not.
OLD_DEBIAN=bookworm
DONOR=trixie

# packages PART...: prints the package names of the parts in this distribution.
packages() {
  if dpkg -s docker-ce-cli >/dev/null 2>&1; then
    # Docker's own packages own the same files as the distribution's: stay with the family that is there.
    family='docker-ce docker-compose-plugin docker-buildx-plugin'
  elif [ "$(distribution)" = ubuntu ]; then
    family='docker.io docker-compose-v2 docker-buildx'
  else
    family='docker.io docker-compose docker-buildx'
  fi
  for part in "$@"; do
    # shellcheck disable=SC2086 # the family is a list
    set -- $family
    case $part in
      engine) echo "$1 iptables ca-certificates" ;;
      compose) echo "$2" ;;
      buildx) echo "$3" ;;
    esac
  done
  # A client that came without a package stays where it is; the plugins are found by either.
  if [ "$1" = docker.io ] && [ "$(distribution)" = debian ] && ! has docker; then echo docker-cli; fi
}

# install_from_donor PACKAGE...: packages of the next release, and nothing else of it, through a private apt state.
install_from_donor() {
  mirror=$(debian_mirror)
  state=$(mktemp -d)
  trap 'rm -rf "$state"' EXIT
  chmod 755 "$state"
  mkdir -p "$state/sources" "$state/preferences" "$state/lists/partial"
  for suite in "$OLD_DEBIAN" "$DONOR"; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
  done >"$state/sources/debian.list"
  # runc stays the old release's: the newer one needs a newer C library.
  cat >"$state/preferences/docker" <<PIN
Package: *
Pin: release n=$DONOR
Pin-Priority: -1

Package: docker.io docker-cli docker-compose docker-buildx containerd tini-static
Pin: release n=$DONOR
Pin-Priority: 990
PIN
  private="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$state/sources
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=$state/preferences
    -o Dir::State::lists=$state/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Languages=none"
  log=$(mktemp)
  # shellcheck disable=SC2086 # a list of options
  apt_quiet "$log" $private update || apt_failed "$log" "package lists"
  # shellcheck disable=SC2086
  apt_quiet "$log" $private install --no-install-recommends runc "$@" || apt_failed "$log" "$*"
  rm -f "$log"
}

# shellcheck disable=SC2046,SC2086 # both are lists
set -- $(packages $1)
say "    installing from $(distribution)'s packages: $*"
if [ "$(os_release VERSION_CODENAME)" = "$OLD_DEBIAN" ]; then install_from_donor "$@"; else debian_install "$@"; fi
