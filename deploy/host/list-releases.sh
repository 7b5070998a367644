#!/bin/sh
# Lists the releases of web that make rollback can put back, the last deployed first, and which one runs. The digest is
# that of the image in its registry, or the image id if the image comes from no registry.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh
. deploy/host/releases.sh

COMPOSE_PROJECT_NAME=$(project_name)
running=$(newest_image)
[ -n "$running" ] || die "web does not run: start the stack first (make up)"
kept=$(for container in $(alive web-previous); do image_of "$container"; done)

printf '%-25s  %-40s  %-19s  %-24s  %s\n' RELEASE IMAGE DIGEST SENTRY_RELEASE 'DEPLOYED (UTC)'
releases | sort -r -k 5 | while read -r release image name sentry_release time mark; do
  digest=$(digest_of "$image" 2>/dev/null) || mark='its image is gone'
  [ "$image" != "$running" ] || mark=running
  case $kept in *"$image"*) mark="${mark:+$mark, }for open pages" ;; esac
  printf '%-25s  %-40s  %.19s  %-24s  %s%s\n' "$release" "$name" "${digest:-$image}" "$sentry_release" "$time" \
    "${mark:+  $mark}"
done
