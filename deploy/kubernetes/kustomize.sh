#!/bin/sh
# kustomize.sh: prints the command that renders a folder: from PATH, else kustomize of Debian 13, unpacked to .culvert and not
# installed. Exits with one line and status 1 if neither is available.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"
# shellcheck source=../bare-machine/apt.sh
. "$here/../bare-machine/apt.sh"
# shellcheck source=../bare-machine/debian.sh
. "$here/../bare-machine/debian.sh"

bin=$(cd "$here/../.." && pwd)/.culvert/bin

# renders COMMAND SUBCOMMAND: whether the command exists and is new enough to render this layout.
renders() { has "$1" && "$1" "$2" "$here/overlays/production" >/dev/null 2>&1; }

# unpack_debian: puts kustomize in $bin.
unpack_debian() {
  state=$(mktemp -d)
  trap 'rm -rf "$state"' EXIT
  chmod 755 "$state"
  private_apt "$state/apt" "$(debian_keys "$state")" "$(debian_mirror)" trixie
  # shellcheck disable=SC2086,SC2154 # a list of options, set by private_apt
  (cd "$state" && apt_quiet "$state/log" $private_apt update && apt_quiet "$state/log" $private_apt download kustomize)
  dpkg-deb -x "$state"/kustomize_*.deb "$state/unpacked"
  mkdir -p "$bin"
  mv "$state/unpacked/usr/bin/kustomize" "$bin/"
}

for command in "kubectl kustomize" "kustomize build" "$bin/kustomize build"; do
  if renders "${command% *}" "${command##* }"; then echo "$command"; exit 0; fi
done
# In a subshell, so that a failure does not exit this script.
if has apt-get; then (unpack_debian) 2>/dev/null || true; fi
if renders "$bin/kustomize" build; then echo "$bin/kustomize build"; exit 0; fi
die "kubectl: not found, or older than 1.31: install it (https://kubernetes.io/docs/tasks/tools/), or kustomize 5.3 or newer"
