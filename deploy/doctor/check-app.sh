#!/bin/sh
# Takes the image of an app through the contract of docs/your-app.md before it goes live: runs it as docker-compose.yml runs web, asks it
# for a page, stops it. Usage: WEB_IMAGE=registry.example/shop:1.4 check-app.sh [--json]. PAGE is the page that is asked for.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/doctor/facts.sh

START_TIMEOUT_S=60
STOP_TIMEOUT_S=10 # as in the contract

WEB_IMAGE=$(setting WEB_IMAGE)
[ -n "$WEB_IMAGE" ] || die "WEB_IMAGE: missing: name the image to check, e.g. WEB_IMAGE=registry.example/shop:1.4 make check-app"
has docker || die "docker: not found: install it, or run make up"
docker image inspect "$WEB_IMAGE" >/dev/null 2>&1 || docker pull "$WEB_IMAGE" >&2 ||
  die "WEB_IMAGE: $WEB_IMAGE is not on this machine and cannot be pulled: build it, or log in to its registry"
BASE_PATH=$(setting BASE_PATH) HEALTH_PATH=$(setting HEALTH_PATH)
export WEB_IMAGE BASE_PATH HEALTH_PATH COMPOSE_PROJECT_NAME="culvert-check-app-$$"
# An app's own environment may stand in the operator's override.
COMPOSE_FILE=$(setting COMPOSE_FILE)
if [ -z "$COMPOSE_FILE" ]; then
  COMPOSE_FILE=docker-compose.yml
  [ ! -e docker-compose.override.yml ] || COMPOSE_FILE=$COMPOSE_FILE:docker-compose.override.yml
fi
# A profile's services may need those that are left out.
export COMPOSE_FILE="$COMPOSE_FILE:deploy/doctor/app.compose.yml" COMPOSE_PROFILES=

trap 'docker compose down --volumes >/dev/null 2>&1' EXIT
trap 'exit 130' INT TERM
# An app that does not get healthy is checked as well: the line on its health says why.
docker compose --progress quiet up --detach --wait --wait-timeout "$START_TIMEOUT_S" --no-deps --no-build web >/dev/null 2>&1 || true
app=$(docker compose ps --all --quiet web)
[ -n "$app" ] || die "WEB_IMAGE: $WEB_IMAGE cannot be started: $(docker compose up --no-deps --no-build web 2>&1 | tail -n 1)"

# files PATH: prints a file of the app, or all files below a folder; nothing if there is none.
files() { docker cp --follow-link "$app:/app/$1" - 2>/dev/null | tar -xO 2>/dev/null; }

# mentions: prints what the code that web or browsers run has, a name for each.
mentions() {
  mention() { ! files "$2" | grep -aq "$4" -e "$3" || echo "$1"; }
  mention server.js server.js '' -F
  mention 'tunnel path' .next/static "$(setting TUNNEL_PATH /monitoring)" -F
  mention 'tunnel: true' .next/static '[{,]tunnel: ?(!0|true)' -E
  mention SERVER_TUNNEL .next/server SERVER_TUNNEL -F
}

dsns_in_bundles() { files .next/static | grep -aoE 'https?://[0-9a-f]{32}@[A-Za-z0-9.:-]+/[A-Za-z0-9./_-]+' | sort -u; }

# last_output: prints the last output of the health check, or else of the app.
last_output() {
  {
    docker logs --tail 5 "$app" 2>&1
    docker inspect --format '{{range .State.Health.Log}}{{println .Output}}{{end}}' "$app"
  } | grep '[^[:space:]]' | tail -n 1
}

app_log() { docker logs --tail 1000 "$app" 2>&1; }

# stop_app: prints the exit status after SIGTERM.
stop_app() {
  docker stop --time "$STOP_TIMEOUT_S" "$app" >/dev/null
  docker inspect --format '{{.State.ExitCode}}' "$app"
}

app_facts() {
  section config docker compose --profile elsewhere config --format json # the proxy's settings, too
  section image docker image inspect "$WEB_IMAGE"
  section state docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$app"
  section output last_output
  section requests run_alone "container:$app" app-requests.ts
  section build files .next/required-server-files.json
  section next files node_modules/next/package.json
  section middleware files .next/server/middleware-manifest.json
  section functions files .next/server/functions-config-manifest.json
  section dsns dsns_in_bundles
  section mentions mentions
  section log app_log
  section stop stop_app
}

app_facts | run_alone none check-app.ts "$@"
