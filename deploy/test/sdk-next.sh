#!/bin/sh
# Runs types and tests of web's telemetry with another version of Sentry's SDK, in a copy, and prints what fails: what an upgrade would
# break. Not part of `make test`. Usage: sdk-next.sh [VERSION], npm's newest by default.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh

version=${1:-$(npm view @sentry/nextjs dist-tags.latest)}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard web deploy/test/vectors | tar -cf - -T - | tar -xf - -C "$copy"
cd "$copy/web"

say "==> installing version $version"
# 11.1 to 11.8 depend on a version of this package that npm lacks; web does not use it.
npm pkg set "overrides.@sentry/cloudflare=11.0.0"
npm install --ignore-scripts --no-audit --no-fund --loglevel=error "@sentry/nextjs@$version" "@sentry/browser@$version"

failed=0
say "==> types"
npm run --silent typecheck || failed=1
say "==> tests"
npm test --silent -- --dir telemetry || failed=1
exit "$failed"
