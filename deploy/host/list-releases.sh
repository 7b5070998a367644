#!/bin/sh
# Lists the releases of web that make rollback can put back, the last deployed first, and which one runs.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh

COMPOSE_PROJECT_NAME=$(project_name)
running=$(newest_image)
kept=$(for container in $(alive web-previous); do image_of "$container"; done)

printf '%-12s  %-40s  %-24s  %s\n' RELEASE IMAGE SENTRY_RELEASE 'DEPLOYED (UTC)'
releases | sort -r -t "$tab" -k 5 | while IFS=$tab read -r release image name sentry_release time mark; do
  [ -n "$(image_id "$image")" ] || mark='its image is gone'
  [ "$image" != "$running" ] || mark=running
  case $kept in *"$image"*) mark="${mark:+$mark, }for open pages" ;; esac
  printf '%-12s  %-40s  %-24s  %s%s\n' "$release" "$name" "$sentry_release" "$time" "${mark:+  $mark}"
done
