#!/bin/sh
# Runs the unit tests on Node 24, which has the SQLite and zstd that the spool uses: on this machine, or in its image.
# Usage: units.sh VITEST-ARGUMENT...
set -eu
root=$(cd "$(dirname "$0")/../../.." && pwd)
cd "$root/proxy/spool"
set -- --disable-warning=ExperimentalWarning node_modules/vitest/vitest.mjs run --config vitest.units.config.ts "$@"
if [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 24 ]; then exec node "$@"; fi
# REPORTS: a folder for test reports.
exec docker run --rm --user "$(id -u):$(id -g)" --label "culvert.test=${CULVERT_TEST_RUN:-by-hand}" \
  --volume="$root:$root" ${REPORTS:+--volume="$REPORTS:$REPORTS"} --workdir="$PWD" node:24-trixie-slim node "$@"
