#!/bin/sh
# Runs types and tests of web's telemetry with another version of Sentry's SDK, in a copy, and prints what fails. Not part of `make
# test`: it says what an upgrade would meet. Usage: sdk-next.sh [VERSION], npm's newest by default.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh

version=${1:-$(npm view @sentry/nextjs dist-tags.latest)}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -co --exclude-standard web deploy/test/vectors | tar -cf - -T - | tar -xf - -C "$copy"
cd "$copy/web"

say "==> installing version $version"
# 11.1 to 11.8 name a version of this one that npm does not have; web uses nothing of it.
npm pkg set "overrides.@sentry/cloudflare=11.0.0"
npm install --ignore-scripts --no-audit --no-fund --loglevel=error "@sentry/nextjs@$version" "@sentry/browser@$version"

failed=0
say "==> types"
npm run --silent typecheck || failed=1
say "==> tests"
npm test --silent -- src/telemetry || failed=1
exit "$failed"
