#!/bin/sh
# Builds what an app of your own needs: images, and the package @culvert/nextjs in dist/. Starts nothing.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

prepare_machine
step 'Images' docker compose build proxy spool ingest >&2
deploy/bare-machine/need.sh npm >&2
npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
mkdir -p dist
npm pack --silent --pack-destination dist ./web/telemetry
printf '\nNext, in the folder of your Next app:\n\n    node %s/web/telemetry/dist/cli/main.js init\n' "$PWD"
