#!/bin/sh
# Compares the proxy with alternatives (README.md); `run.sh faults` compares what each loses when something fails, `run.sh attacks` measures
# what a client notices of another one's attack. Needs Docker and Node; fetches the base images like `make up`.
set -eu
cd "$(dirname "$0")"
machine=../../deploy/bare-machine

"$machine/engine.sh"
"$machine/base-images-ensure.sh"
: "${BUILD_CA_FILE:=$("$machine/build-ca.sh")}"
export BUILD_CA_FILE
npm ci --ignore-scripts --no-audit --no-fund --silent
if [ "${1:-bench}" = faults ]; then
  CHROMIUM_PATH=$("$machine/browser.sh")
  export CHROMIUM_PATH
  [ -n "$CHROMIUM_PATH" ] || npx playwright-core install chromium
fi
exec npm run --silent "${1:-bench}"
