#!/bin/sh
# Draws dashboard.svg: runs proxy and spool between recorders, with faults, for six minutes, and draws the dashboard's panels from what a
# real Prometheus recorded. Needs Docker and Node.
set -eu
cd "$(dirname "$0")/../.."

deploy/host/engine.sh
deploy/host/base-images-ensure.sh
BUILD_CA_FILE=${BUILD_CA_FILE:-$(deploy/host/build-ca.sh)}
run=$(mktemp)
trap 'rm -f "$run"; docker image rm culvert-picture-proxy culvert-picture-spool >/dev/null 2>&1' EXIT
# Images of its own, from the defaults: an operator's .env and stack stay out of it.
export BUILD_CA_FILE RUN="$run" COMPOSE_PROJECT_NAME=culvert-picture COMPOSE_ENV_FILES=/dev/null
docker compose build proxy spool
for folder in deploy/test loadtest/bench; do npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund --silent; done
npm --prefix deploy/test run picture
npm --prefix loadtest/bench run --silent dashboard -- \
  "$PWD/deploy/kubernetes/components/monitoring/dashboard.json" "$run" "$PWD/deploy/monitoring/dashboard.svg"
