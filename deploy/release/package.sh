#!/bin/sh
# Packs @culvert/nextjs, which has no dependencies but peers. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"

field() { node -p "require('./web/telemetry/package.json').$1"; }
[ "$(field version)" = "$VERSION" ] ||
  die "web/telemetry/package.json: its version is not $VERSION, the one of the file VERSION"
# npm refuses a package with provenance if it names another repository than the workflow's.
[ "$(field repository.url)" = "git+$SOURCE_URL.git" ] ||
  die "web/telemetry/package.json: repository.url is not git+$SOURCE_URL.git: change it, or SOURCE_URL"

cd web
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null
cd telemetry
npm pack --silent --pack-destination "$OUT" >/dev/null
