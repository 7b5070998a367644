#!/bin/sh
# Warns if ad-blockers are known to block the tunnel's paths. blocked-paths has the rules of EasyList, EasyPrivacy and uBlock
# Origin that can match a tunnel's path, without their options: text anywhere in an address, "|" for its end.
# web/e2e/blockers.spec.ts compares it with the lists.
set -eu

# warn_if_blocked ADDRESS WARNING: fails if a rule matches.
warn_if_blocked() {
  while read -r rule; do
    case $1 in
      *"$rule"*)
        echo "culvert proxy: TUNNEL_PATH '$TUNNEL_PATH' $2 (rule $rule): use a path that says nothing, such as /k7f2a9" >&2
        return 1
        ;;
    esac
  done <"${0%/*}/blocked-paths"
}
path=${BASE_PATH:-}$TUNNEL_PATH
warn_if_blocked "$path|" "is blocked by ad-blockers" || exit 0
# The SDK adds arguments for projects of sentry.io only.
case "$SENTRY_DSN ${TUNNEL_ALLOWED_DSNS:-}" in
  *.sentry.io*) warn_if_blocked "$path?o=1&p=2|" "is blocked by ad-blockers when an app's tunnelRoute adds its arguments" || exit 0 ;;
esac
warn_if_blocked "$path/csp|" "lets ad-blockers block CSP reports" || exit 0
