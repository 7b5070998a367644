#!/bin/sh
# Warns if ad-blockers are known to block the tunnel's paths. blocked-paths has the rules of EasyList, EasyPrivacy and uBlock
# Origin that can match a tunnel's path, without their options: text anywhere in an address, "|" for its end.
# web/e2e/blockers.spec.ts compares it with the lists.
set -eu

path=${BASE_PATH:-}$TUNNEL_PATH
addresses="$path| $path/csp|"
# The SDK adds arguments for projects of sentry.io only.
case "$SENTRY_DSN ${TUNNEL_ALLOWED_DSNS:-}" in *.sentry.io*) addresses="$addresses $path?o=1&p=2|" ;; esac
for address in $addresses; do
  rule=$(echo "$address" | grep -oFf "${0%/*}/blocked-paths" | head -n 1)
  [ -n "$rule" ] || continue
  echo "culvert proxy: ad-blockers block ${address%|} (rule $rule): set TUNNEL_PATH to a path that says nothing, such as /k7f2a9" >&2
  break
done
