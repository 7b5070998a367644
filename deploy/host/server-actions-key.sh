#!/bin/sh
# Prints the file with the key that all builds of web share; creates it the first time: 32 bytes in base64.
# https://nextjs.org/docs/app/guides/self-hosting#server-functions-encryption-key
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

key=$PWD/.culvert/server-actions.key
if [ ! -s "$key" ]; then
  mkdir -p .culvert
  # Atomic: of two at the same time, the first one wins.
  umask 077
  head -c 32 /dev/urandom | base64 >"$key.$$"
  ln "$key.$$" "$key" 2>/dev/null || true
  rm "$key.$$"
fi
[ -s "$key" ] || die "SERVER_ACTIONS_KEY_FILE: $key could not be created:" \
  "check the permissions of $PWD/.culvert, or set a file of your own"
echo "$key"
