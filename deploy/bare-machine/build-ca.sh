#!/bin/sh
# Prints the file with the extra CA that this machine's npm trusts, or nothing. Builds behind a TLS-inspecting egress
# need it.
set -eu
. "$(dirname "$0")/lib.sh"

MAX_BYTES=500000 # BuildKit rejects larger secrets

# npm_ca: prints npm's setting `cafile`, if npm is installed and has one.
npm_ca() {
  has npm || return 0
  npm config get cafile 2>/dev/null | grep -v -x -e null -e undefined || true
}

file=${NODE_EXTRA_CA_CERTS:-$(npm_ca)}
if [ -z "$file" ] || [ ! -s "$file" ]; then exit 0; fi
if [ ! -r "$file" ]; then
  say "    not used in the build: $file cannot be read"
elif [ "$(wc -c <"$file")" -gt "$MAX_BYTES" ]; then
  say "    not used in the build: $file is larger than $MAX_BYTES bytes; set BUILD_CA_FILE to a file with only your" \
    "own CA"
else
  printf '%s\n' "$file"
fi
