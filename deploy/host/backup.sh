#!/bin/sh
# Writes what a new host needs into one file: settings, keys, and the volumes with queued envelopes and certificates.
# The queue pauses for seconds. Usage: FILE=culvert.tar backup.sh; restore.sh reads it.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh

use_project
umask 077
file=${FILE:-culvert-$(date -u +%Y%m%dT%H%M%SZ).tar}
trap 'rm -f "$file.part"; docker compose --progress quiet up --detach --no-build --no-recreate --wait spool >&2' EXIT
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
in_tools() { docker run --rm --interactive --network none --user 0:0 "$@"; }
image=$(tools_image)
# Status 1: the proxy has stored a file meanwhile.
in_tools "$@" --entrypoint tar "$image" -cf - -C /backup --exclude='*.lock' . >"$file.part" || [ $? = 1 ] ||
  die "backup: $file could not be written: the reason is above"
# Read back before it is called a backup.
# shellcheck disable=SC2016 # the container's
missing=$(in_tools "$@" --entrypoint sh "$image" -euc '
  cd /backup
  tar -tf - >/tmp/written
  sort -o /tmp/written /tmp/written
  find . -path ./volumes/proxy -prune -o -type f ! -name "*.lock" -print | sort | comm -23 - /tmp/written' \
  <"$file.part") || die "backup: what was written cannot be read back: is there space for $file?"
[ -z "$missing" ] || die "backup: $(printf '%s\n' "$missing" | head -n 1) is not in what was written: try again"
mv "$file.part" "$file"
say "    $file: $(du -h "$file" | cut -f 1). It has keys and passwords: keep it as you keep those"
