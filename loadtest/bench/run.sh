#!/bin/sh
# Compares the proxy with alternatives, and measures what faults and attacks cost (docs/benchmarks.md). Needs Docker and
# Node; fetches the base images like `make up`.
set -eu
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
machine=$root/deploy/bare-machine out=$root/.culvert/bench

"$machine/engine.sh"
"$machine/base-images-ensure.sh"
: "${BUILD_CA_FILE:=$("$machine/build-ca.sh")}" "${CHROMIUM_PATH:=$("$machine/browser.sh")}"
BENCH_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export BUILD_CA_FILE CHROMIUM_PATH BENCH_COMMIT COMPOSE_PROJECT_NAME=culvert-bench COMPOSE_ENV_FILES=/dev/null \
  COMPOSE_FILE="$root/docker-compose.yml:$root/loadtest/bench/compose.yml" CONSOLE=on SERVER_NAME=proxy \
  TUNNEL_PATH=/monitoring SENTRY_DSN=https://key@o1.ingest.sentry.io/1 INGEST_CA_FILE="$out/files/server.crt"

# The same app with two tunnels of @sentry/nextjs: tunnelRoute, and the handler.
app=$out/next-tunnels
rm -rf "$app"
mkdir -p "$app/src/app/tunnel-handler" "$out/files"
tar -C "$root/web" --exclude=node_modules --exclude=.next --exclude=./e2e -c . | tar -C "$app" -x
sed -i.old 's|withCulvert(config, {|& sentry: { tunnelRoute: "/monitoring" },|' "$app/next.config.ts"
! cmp -s "$app/next.config.ts" "$app/next.config.ts.old" ||
  { echo "culvert bench: tunnelRoute does not fit into web/next.config.ts: adapt loadtest/bench/run.sh" >&2 && exit 1; }
echo 'export { POST } from "@sentry/nextjs/tunnel";' >"$app/src/app/tunnel-handler/route.ts"

npm ci --ignore-scripts --no-audit --no-fund --silent
[ -n "$CHROMIUM_PATH" ] || npx playwright-core install chromium
trap 'docker compose down --volumes --timeout 0 >/dev/null 2>&1' EXIT
trap 'exit 130' HUP INT TERM
npx tsx src/main.ts
