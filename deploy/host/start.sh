#!/bin/sh
# Builds and starts the stack and waits until it is healthy; names what failed when it is not.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/reason.sh"
cd "$here/../.."

PATIENCE_S=120 # a container that neither dies nor gets healthy

if docker compose --progress "${PROGRESS:-auto}" up --build --wait --wait-timeout "$PATIENCE_S" >&2; then exit 0; fi

# One that never ran has nothing to say.
docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
  while read -r name service state health; do
    case "$state $health" in 'running ' | 'running healthy') continue ;; esac
    words=$(reason "$name")
    [ -z "$words" ] || say "culvert: $service ($state): $words"
  done
die "the stack did not start: the reason is above; 'make logs' shows more, 'make down' clears it away"
