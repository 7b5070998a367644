#!/bin/sh
# Packs @culvert/nextjs, which has no dependencies but peers. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"

folder=$(pwd)/$OUT
cd web
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null
cd telemetry
[ "$(node -p 'require("./package.json").version')" = "$VERSION" ] || die "web/telemetry/package.json: its version is not $VERSION, the one of the file VERSION"
npm pack --silent --pack-destination "$folder" >/dev/null
node "$here/sbom.mjs" nextjs "$folder/sbom" .
