#!/bin/sh
# Draws dashboard.svg: runs proxy and spool between recorders, with faults, for six minutes, and draws the dashboard's panels from what a
# real Prometheus recorded. Needs Docker and Node.
set -eu
cd "$(dirname "$0")/../.."

deploy/host/engine.sh
deploy/host/base-images-ensure.sh
BUILD_CA_FILE=${BUILD_CA_FILE:-$(deploy/host/build-ca.sh)}
run=$(mktemp)
trap 'rm -f "$run"' EXIT
export BUILD_CA_FILE RUN="$run"
docker compose build proxy spool
for folder in deploy/test loadtest/bench; do npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund --silent; done
npm --prefix deploy/test run picture
npm --prefix loadtest/bench run --silent dashboard -- \
  "$PWD/deploy/kubernetes/components/monitoring/dashboard.json" "$run" "$PWD/deploy/monitoring/dashboard.svg"
