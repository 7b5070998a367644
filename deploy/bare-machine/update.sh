#!/bin/sh
# Gets the newest base images of the Dockerfiles, and these images: pulls them, or builds again those that were built
# here. Usage: update.sh [IMAGE...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/pull.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for image in $("$here/base-images.sh") "$@"; do
  if pull "$image"; then
    say "    $image: $(docker image inspect --format '{{.Created}}' "$image" | cut -c 1-10)"
  elif docker image inspect --format '{{json .Config.Labels}}' "$image" 2>/dev/null | grep -q culvert.built-by &&
    can_install; then
    REBUILD=1 "$here/build.sh" "$image"
  else
    say "    $image is not updated: $(tail -n 1 "$log" | cut -c 1-200)"
  fi
done
