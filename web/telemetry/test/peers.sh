#!/bin/sh
# Checks the packed package with versions of its peers: its types in a small app, and its server part in Node. Usage:
# peers.sh [all]. Without `all`: the lowest versions together, and the newest; all: each SDK with each Next
# and React, and Node 22 and 24.
set -eu
cd "$(dirname "$0")/../.."
app=$(mktemp -d)
trap 'rm -rf "$app"' EXIT

npm pack --silent --ignore-scripts --pack-destination "$app" ./telemetry >/dev/null
cp telemetry/test/consumer/* "$app"
# For esbuild.
PATH=$PWD/e2e/node_modules/.bin:$PATH
cd "$app"
# Nothing here loads the SDK of Cloudflare, a third of the files of version 11.
mkdir cloudflare
echo '{ "name": "@sentry/cloudflare", "version": "11.0.0" }' >cloudflare/package.json
echo '{ "type": "module", "overrides": { "@sentry/cloudflare": "file:cloudflare", "rollup": "4.65.0" } }' >package.json

install() {
  npm install --ignore-scripts --omit=optional --omit=peer --no-audit --no-fund --no-package-lock --loglevel=error \
    --prefer-offline "$@" >/dev/null
}

failed=0
# types SDK NEXT REACT: installs these versions, and prints the errors in the app and in the package's declarations;
# those of the peers are not the package's. npm fails if the package does not allow these versions.
types() {
  install ./culvert-nextjs-*.tgz "@sentry/nextjs@$1" "next@$2" "react@$3" "react-dom@$3" \
    "@types/react@${3%%.*}" @types/node@24
  echo "Sentry $1, Next $2, React $3"
  tsc --noEmit --strict true --jsx react-jsx --target es2022 --module esnext --moduleResolution bundler --types node \
    app.tsx >output || true
  ! grep -E '^(app|node_modules/@culvert)' output || failed=1
}

# server NODE: runs the server's part with the peers of the last `types`, bundled as Next does it; and loads each part
# as it is.
server() {
  esbuild server.mjs --bundle --platform=node --external:@sentry/nextjs --outfile=server.cjs --log-level=error
  "$1" server.cjs || failed=1
  "$1" plain.mjs || failed=1
}

if [ "${1:-}" = all ]; then
  for sdk in 10.73.0 10.78.0 11.0.0 11.8.0; do
    for next in 15.5.0 16.4.6; do
      for react in 18.3.0 19.3.1; do types "$sdk" "$next" "$react"; done
    done
    for version in 22 24; do
      install "node-$(node -p 'process.platform + "-" + process.arch')@$version"
      server node_modules/node-*/bin/node
    done
  done
else
  types 10.73.0 15.5.0 18.3.0
  server node
  types 11.8.0 16.4.6 19.3.1
  server node
fi
exit "$failed"
