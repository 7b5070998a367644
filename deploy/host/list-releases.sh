#!/bin/sh
# Lists the releases of web that make rollback can put back, the last deployed first, and which one runs. The digest is that of the image in
# its registry, or the image id if the image was built here.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/host/stack.sh
. deploy/host/releases.sh

COMPOSE_PROJECT_NAME=$(project_name)
running=$(newest_image)
[ -n "$running" ] || die "web does not run: start the stack first (make up)"

printf '%-25s  %-40s  %-19s  %-24s  %s\n' TAG IMAGE DIGEST SENTRY_RELEASE 'BUILT (UTC)'
releases | while read -r tag image; do
  mark=
  ! is_undone "$image" || mark='  undone'
  [ "$image" != "$running" ] || mark='  running'
  name=$(label "$image" image)
  release=$(label "$image" release)
  digest=$(label "$image" digest)
  printf '%-25s  %-40s  %.19s  %-24s  %.16s%s\n' "$tag" "${name:-web/}" "${digest:-$image}" "${release:--}" \
    "$(docker image inspect --format '{{.Created}}' "$image" | tr T ' ')" "$mark"
done
