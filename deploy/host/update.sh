#!/bin/sh
# Gets the newest base images, builds on them, and deploys. What was replaced can be put back: web by make rollback.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/bare-machine/apt.sh
. deploy/bare-machine/pull.sh

log=$(mktemp)
trap 'rm -f "$log"' EXIT
base=$(deploy/bare-machine/base-images.sh)
for image in $base $(setting WEB_IMAGE); do
  if pull "$image"; then
    say "    $image: $(docker image inspect --format '{{.Created}}' "$image" | cut -c 1-10)"
  elif docker image inspect --format '{{json .Config.Labels}}' "$image" 2>/dev/null | grep -q culvert.built-by && can_install; then
    REBUILD=1 deploy/bare-machine/build.sh "$image"
  else
    say "    $image is not updated: $(tail -n 1 "$log" | cut -c 1-200)"
  fi
done
rm -f "$log"
exec sh deploy/host/up.sh
