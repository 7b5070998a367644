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

app=
clean_up() {
  [ -z "$app" ] || docker rm --force "$app" >/dev/null 2>&1
  docker compose --profile '*' down --volumes >/dev/null 2>&1
}
trap clean_up EXIT
trap 'exit 130' INT TERM
app=$(docker compose --progress quiet run --detach --no-deps web) || die "WEB_IMAGE: $WEB_IMAGE cannot be started: the reason is above"

# wait_until_healthy: returns when the app is healthy, has exited, or START_TIMEOUT_S are over.
wait_until_healthy() {
  deadline=$(($(date +%s) + START_TIMEOUT_S))
  while [ "$(date +%s)" -lt "$deadline" ]; do
    case $(docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$app") in *starting) sleep 0.25 ;; *) return ;; esac
  done
}

# in_app PROGRAM: runs a program of deploy/doctor in the app's own network, where it is localhost.
in_app() { run_alone "container:$app" "$@"; }

# file PATH: prints a file of the app, nothing if there is none. tree PATH: prints all files below.
file() { docker cp --follow-link "$app:/app/$1" - 2>/dev/null | tar -xO 2>/dev/null; }
tree() { file "$1"; }

# stop_app: prints the seconds from SIGTERM to the end, and the exit status.
stop_app() {
  stop_began=$(date +%s)
  docker stop --time "$STOP_TIMEOUT_S" "$app" >/dev/null
  echo "$(($(date +%s) - stop_began)) $(docker inspect --format '{{.State.ExitCode}}' "$app")"
}

dsns_in_bundles() { tree .next/static | grep -aoE 'https?://[0-9a-f]{32}@[A-Za-z0-9.:-]+/[A-Za-z0-9./_-]+' | sort -u; }
# mentions PATH TEXT [OPTION]: whether the code that web runs, or that browsers run, has this text; with -E, one that it matches.
mentions() { if tree "$1" | grep -aq "${3:--F}" -e "$2"; then echo yes; else echo no; fi; }

# answered: prints the output of the last health check.
answered() { docker inspect --format '{{range .State.Health.Log}}{{println .Output}}{{end}}' "$app" | grep '[^[:space:]]' | tail -n 1; }

# last_output: prints the last output of the health check, or else of the app.
last_output() {
  { docker logs --tail 5 "$app" 2>&1; answered; } | grep '[^[:space:]]' | tail -n 1
}

app_log() { docker logs --tail 1000 "$app" 2>&1; }

app_facts() {
  section config docker compose --profile elsewhere config --format json # the proxy's settings, too
  section image docker image inspect "$WEB_IMAGE"
  section state docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$app"
  section answered answered
  section reason last_output
  section requests in_app app-requests.ts
  section build file .next/required-server-files.json
  section next file node_modules/next/package.json
  section actions file .next/server/server-reference-manifest.json
  section middleware file .next/server/middleware-manifest.json
  section functions file .next/server/functions-config-manifest.json
  section actions-key cat "$(setting SERVER_ACTIONS_KEY_FILE .culvert/server-actions.key)"
  section server-js mentions server.js ''
  section dsns dsns_in_bundles
  section browser-tunnel mentions .next/static "$(setting TUNNEL_PATH /monitoring)"
  section browser-tunnel-true mentions .next/static '[{,]tunnel: ?(!0|true)' -E
  section browser-websocket mentions .next/static '(new |window\.|globalThis\.|self\.)WebSocket\b' -E
  section server-sentry mentions .next/server sentry.javascript
  section server-tunnel mentions .next/server SERVER_TUNNEL
  section memory docker stats --no-stream --format '{{.MemPerc}}' "$app"
  section log app_log
  section stop stop_app
}

wait_until_healthy
app_facts | run_alone none check-app.ts "$@"
