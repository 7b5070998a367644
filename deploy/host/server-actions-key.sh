#!/bin/sh
# Prints the file with the key that all builds of web share, and makes it the first time: 32 bytes in base64.
# https://nextjs.org/docs/app/guides/self-hosting#server-functions-encryption-key
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"

key=$root/.culvert/server-actions.key
if [ ! -s "$key" ]; then
  mkdir -p "$root/.culvert"
  # Whole or not at all, also when two begin at once: the first one's stays.
  umask 077
  head -c 32 /dev/urandom | base64 >"$key.$$"
  ln "$key.$$" "$key" 2>/dev/null || true
  rm "$key.$$"
fi
[ -s "$key" ] || die "SERVER_ACTIONS_KEY_FILE: $key could not be made: check who may write $root/.culvert, or give a file of your own"
echo "$key"
