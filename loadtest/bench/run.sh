#!/bin/sh
# Compares the proxy with alternatives, and measures what faults and attacks cost (docs/benchmarks.md). Needs Docker and
# Node; fetches the base images like `make up`.
set -eu
cd "$(dirname "$0")"
machine=../../deploy/bare-machine

"$machine/engine.sh"
"$machine/base-images-ensure.sh"
: "${BUILD_CA_FILE:=$("$machine/build-ca.sh")}" "${CHROMIUM_PATH:=$("$machine/browser.sh")}"
BENCH_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export BUILD_CA_FILE CHROMIUM_PATH BENCH_COMMIT
npm ci --ignore-scripts --no-audit --no-fund --silent
[ -n "$CHROMIUM_PATH" ] || npx playwright-core install chromium
exec npx tsx src/main.ts
