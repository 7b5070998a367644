#!/bin/sh
# Builds and starts the stack and waits until it is healthy; else prints what failed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
cd "$here/../.."
. "$here/rolling.sh"

"$here/monitoring-images.sh"

START_TIMEOUT_S=120 # for a container that neither exits nor becomes healthy

# stop_unused: stops services that the settings no longer include (ACME=off, a SENTRY_DSN): `up` would leave them running.
stop_unused() {
  unused=$(docker compose --profile '*' ps --all --services | grep -x -e acme -e ingest | grep -vxF "$(docker compose config --services)") || return 0
  # shellcheck disable=SC2086 # a list
  docker compose --progress quiet rm --force --stop $unused >&2
}

repair
if docker compose --progress "${PROGRESS:-auto}" up --build --wait --wait-timeout "$START_TIMEOUT_S" >&2; then
  stop_unused
  rm -f "$(replaced_file)"
  exit 0
fi

# A container that never ran has no reason to print.
docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
  while read -r name service state health; do
    case "$state $health" in 'running ' | 'running healthy') continue ;; esac
    message=$(reason "$name")
    [ -z "$message" ] || say "culvert: $service ($state): $message"
  done
die "the stack did not start: the reason is above; 'make logs' shows more, 'make down' removes the containers"
