#!/bin/sh
# Prints the file with the extra CA that this machine's npm trusts, or nothing: a build behind a TLS-inspecting egress needs it.
set -eu
. "$(dirname "$0")/lib.sh"

LIMIT=500000 # bytes; BuildKit refuses larger secrets

# npm_ca: prints npm's own setting, if there is an npm and it has one.
npm_ca() {
  has npm || return 0
  npm config get cafile 2>/dev/null | grep -v -x -e null -e undefined || true
}

file=${NODE_EXTRA_CA_CERTS:-$(npm_ca)}
if [ -z "$file" ] || [ ! -s "$file" ]; then exit 0; fi
if [ ! -r "$file" ]; then
  say "    not used in the build: $file cannot be read"
elif [ "$(wc -c <"$file")" -gt "$LIMIT" ]; then
  say "    not used in the build: $file is larger than $LIMIT bytes; set BUILD_CA_FILE to a file with your own CA alone"
else
  printf '%s\n' "$file"
fi
