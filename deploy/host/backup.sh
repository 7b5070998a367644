#!/bin/sh
# Writes what a new host needs into one file: settings, keys, and the volumes with queued envelopes and certificates.
# The queue pauses for seconds. Usage: FILE=culvert.tar backup.sh; restore.sh reads it.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/host/stack.sh

use_project
umask 077
file=${FILE:-culvert-$(date -u +%Y%m%dT%H%M%SZ).tar}
trap 'docker compose --progress quiet up --detach --no-build --no-recreate --wait spool >&2' EXIT
trap 'exit 130' INT TERM HUP PIPE
docker compose --progress quiet stop spool >&2
set --
for name in spool certificates acme proxy; do
  volume=${COMPOSE_PROJECT_NAME}_$name
  ! docker volume inspect "$volume" >/dev/null 2>&1 || set -- "$@" --volume "$volume:/backup/volumes/$name:ro"
done
for path in .env docker-compose.override.yml .culvert; do
  [ ! -e "$path" ] || set -- "$@" --volume "$PWD/$path:/backup/files/$path:ro"
done
docker run --rm --network none --user 0:0 "$@" --entrypoint tar "$(tools_image)" -cf - -C /backup \
  --exclude='*.lock' . >"$file" || die "backup: $file could not be written"
say "    $file: $(du -h "$file" | cut -f 1). It has keys and passwords: keep it as you keep those"
