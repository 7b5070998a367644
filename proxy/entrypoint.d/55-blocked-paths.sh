#!/bin/sh
# Warns if ad-blockers are known to block the tunnel's paths. blocked-paths has the rules of EasyList, EasyPrivacy and uBlock
# Origin that can match a tunnel's path, without their options: text anywhere in an address, "|" for its end.
# web/e2e/blockers.spec.ts compares it with the lists.
set -eu

path=${BASE_PATH:-}$TUNNEL_PATH
# blocked ADDRESS: the first rule that matches it.
blocked() {
  while read -r rule; do
    case $1 in *"$rule"*) echo "$rule" && return ;; esac
  done <"${0%/*}/blocked-paths"
}
warning() {
  printf "culvert proxy: TUNNEL_PATH '%s' %s (rule %s): %s\n" "$TUNNEL_PATH" "$1" "$2" "use a path that says nothing, such as /k7f2a9" >&2
}

rule=$(blocked "$path|")
[ -z "$rule" ] || { warning "is blocked by ad-blockers" "$rule" && exit 0; }
# The SDK adds arguments for projects of sentry.io only.
case "$SENTRY_DSN ${TUNNEL_ALLOWED_DSNS:-}" in
  *.sentry.io*) rule=$(blocked "$path?o=1&p=2|") ;;
esac
[ -z "$rule" ] || { warning "is blocked by ad-blockers when an app's tunnelRoute adds its arguments" "$rule" && exit 0; }
rule=$(blocked "$path/csp|")
[ -z "$rule" ] || warning "lets ad-blockers block CSP reports" "$rule"
