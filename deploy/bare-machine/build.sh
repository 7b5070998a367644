#!/bin/sh
# Builds the base images of the Dockerfiles from Debian and npm packages, in parallel. As root on Debian or Ubuntu.
# Usage: build.sh [IMAGE...]; existing images are kept unless REBUILD=1. With ARCH=arm64, for that architecture, as
# IMAGE-arm64.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

# shellcheck disable=SC2046 # a list of images
[ $# -gt 0 ] || set -- $("$here/base-images.sh")

# recipe IMAGE: prints the path of its recipe.
recipe() { echo "$here/${1%%:*}.sh"; }

wanted=
for image in "$@"; do
  if [ "${REBUILD:-0}" != 1 ] && docker image inspect "$image${ARCH:+-$ARCH}" >/dev/null 2>&1; then
    say "    $image: already present (REBUILD=1 builds it again)"
    continue
  fi
  [ -x "$(recipe "$image")" ] ||
    die "$image: deploy/bare-machine has no recipe for it: docker load it, or add $(recipe "$image")"
  wanted="$wanted $image"
done
[ -n "$wanted" ] || exit 0

can_install ||
  die "building base images needs root on Debian or Ubuntu: run as root there and carry them over with docker save /" \
    "docker load"
has mmdebstrap || { say "    installing mmdebstrap"; debian_install mmdebstrap debian-archive-keyring; }

builds=
# shellcheck disable=SC2086 # a list
trap 'kill $builds 2>/dev/null; exit 143' TERM
for image in $wanted; do
  "$(recipe "$image")" "$image" &
  builds="$builds $!"
done
failed=0
for build in $builds; do wait "$build" || failed=1; done
exit "$failed"
