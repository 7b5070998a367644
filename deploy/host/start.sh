#!/bin/sh
# Builds and starts the stack and waits until it is healthy; names what failed when it is not.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$here/../.."

PATIENCE_S=120 # a container that neither dies nor gets healthy

if docker compose --progress "${PROGRESS:-auto}" up --build --wait --wait-timeout "$PATIENCE_S" >&2; then exit 0; fi

# What a container said last is the reason; one that never ran said nothing.
docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
  while read -r name service state health; do
    case "$state $health" in 'running ' | 'running healthy') continue ;; esac
    words=$(docker logs --tail 1 "$name" 2>&1 | tail -n 1)
    [ -z "$words" ] || say "culvert: $service ($state): $words"
  done
die "the stack did not start: the reason is above; 'make logs' shows more, 'make down' clears it away"
