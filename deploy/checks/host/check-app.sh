#!/bin/sh
# Takes the image of an app through the contract of docs/your-app.md: runs it as `make up` tries web, asks it for PAGE,
# stops it. Usage: WEB_IMAGE=registry.example/shop:1.4 check-app.sh [--json].
set -eu
cd "$(dirname "$0")/../../.."
. deploy/lib.sh
. deploy/checks/host/facts.sh

WEB_IMAGE=$(setting WEB_IMAGE)
[ -n "$WEB_IMAGE" ] ||
  die "WEB_IMAGE: missing: name the image to check, e.g. WEB_IMAGE=registry.example/shop:1.4 make check-app"
has docker || die "docker: not found: install it, or run make up"
get_web_image "$WEB_IMAGE"
BASE_PATH=$(setting BASE_PATH)
export WEB_IMAGE BASE_PATH COMPOSE_PROJECT_NAME="culvert-check-app-$$"

trap '{ docker rm --force --volumes "${app:-}"; docker compose down --volumes --rmi local; } >/dev/null 2>&1' EXIT
trap 'exit 130' INT TERM
app=$(docker compose --progress quiet run --detach --no-deps --label culvert.trial=yes web) ||
  die "WEB_IMAGE: $WEB_IMAGE cannot be started: the reason is above"
say_replaced "$app"
problem=$(wait_until_healthy "$app") || true

# files PATH: prints a file of the app, or all files below a folder.
files() { docker cp --follow-link "$app:/app/$1" - 2>/dev/null | tar -xO 2>/dev/null; }

# mentions: prints names of what the code has.
mentions() {
  mention() { ! files "$2" | grep -aq "$4" -e "$3" || echo "$1"; }
  mention server.js server.js '' -F
  mention 'tunnel path' .next/static "$(setting TUNNEL_PATH)" -F
  mention 'tunnel: true' .next/static '[{,]tunnel: ?(!0|true)' -E
  mention SERVER_TUNNEL .next/server SERVER_TUNNEL -F
  mention 'server actions' .next/server/server-reference-manifest.json '"workers":' -F
  mention 'fetch of nextUrl' .next/server 'fetch\([^;]{0,80}[.]nextUrl' -E
  mention nextUrl.origin .next/server '[.]nextUrl[.]origin' -E
}

dsns_in_bundles() { files .next/static | grep -aoE 'https?://[0-9a-f]{32}@[A-Za-z0-9.:-]+/[A-Za-z0-9./_-]+' | sort -u; }

app_log() { docker logs --tail 1000 "$app" 2>&1; }

# stop_app: prints the exit status after SIGTERM, and SIGKILL after 20 s.
stop_app() {
  docker stop --time 20 "$app" >/dev/null
  docker inspect --format '{{.State.ExitCode}}' "$app"
}

app_facts() {
  section config docker compose config --format json
  section problem printf '%s\n' "$problem"
  section container docker inspect "$app"
  section requests run_in "container:$app" app-requests.ts
  section build files .next/required-server-files.json
  section next files node_modules/next/package.json
  section middleware files .next/server/middleware-manifest.json
  section functions files .next/server/functions-config-manifest.json
  section dsns dsns_in_bundles
  section mentions mentions
  section log app_log
  section stop stop_app
}

app_facts | run_in none check-app.ts "$@"
