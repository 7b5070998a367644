#!/bin/sh
# Gets the missing base images of the Dockerfiles: pulls them, or builds them if no registry answers.
# Usage: base-images-ensure.sh [DOCKERFILE...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/pull.sh"
BUILD=$here/build.sh

missing=
for image in $("$here/base-images.sh" "$@"); do
  docker image inspect "$image" >/dev/null 2>&1 || missing="$missing $image"
done
[ -n "$missing" ] || { say "    all present"; exit 0; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for image in $missing; do
  if pull "$image"; then
    say "    $image: pulled"
    continue
  fi
  reason=$(tail -n 1 "$log" | cut -c 1-200)
  if ! can_install; then
    die "the container registry does not provide $image ($reason): connect this machine to one" \
      "(docker pull $image must work), or carry the base images over from a Debian machine" \
      "(deploy/bare-machine/README.md)"
  fi
  say "    the container registry does not provide $image ($reason):"
  say "    building the base images from Debian and npm packages"
  # shellcheck disable=SC2086 # a list of images
  "$BUILD" $missing
  break
done
