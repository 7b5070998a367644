#!/bin/sh
# Limits: how many requests for pages and files may be open at a time, of everyone, of one client and on one replica; rates.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/render.sh"

# A rate of 1 is never applied where the key is empty: templates/app-limits.conf.
REQUEST_RATE=$REQUEST_RATE_PER_CLIENT REQUEST_RATE_PER_SECOND=1
if check_limit REQUEST_RATE_PER_CLIENT "$REQUEST_RATE_PER_CLIENT" "requests per second" 999999; then
  REQUEST_RATE_PER_SECOND=$REQUEST_RATE_PER_CLIENT
fi

MAX_REQUESTS_OF_SITE=$(((MAX_CONCURRENT_REQUESTS + 2) / 3))
LIMIT_PUBLIC_CLIENTS=1 LIMIT_PRIVATE_CLIENTS=1 MAX_AT_WEB_OF_CLIENT=${MAX_CONCURRENT_REQUESTS_PER_CLIENT:-}
if [ -z "$MAX_AT_WEB_OF_CLIENT" ]; then
  LIMIT_PRIVATE_CLIENTS=0 MAX_AT_WEB_OF_CLIENT=300
elif ! check_limit MAX_CONCURRENT_REQUESTS_PER_CLIENT "$MAX_AT_WEB_OF_CLIENT" "requests" 16000; then
  LIMIT_PUBLIC_CLIENTS=0 LIMIT_PRIVATE_CLIENTS=0 MAX_AT_WEB_OF_CLIENT=1
fi
MAX_AT_WEB_OF_SITE=$((4 * MAX_AT_WEB_OF_CLIENT))
export REQUEST_RATE REQUEST_RATE_PER_SECOND LIMIT_PUBLIC_CLIENTS LIMIT_PRIVATE_CLIENTS
export MAX_REQUESTS_OF_SITE MAX_AT_WEB_OF_CLIENT MAX_AT_WEB_OF_SITE
# Of everyone together.
export TUNNEL_RATE_TOTAL=$((40 * TUNNEL_RATE_PER_CLIENT))
render app-limits.conf open-limits.conf web-limits.conf tunnel-limits.conf

# Off by default: an app whose pages wait for other services has many open at a time without being overloaded.
if check_limit MAX_CONCURRENT_PAGES_PER_REPLICA "$MAX_CONCURRENT_PAGES_PER_REPLICA" "pages" 65535; then
  export MAX_PREFETCHES_PER_REPLICA=$(((MAX_CONCURRENT_PAGES_PER_REPLICA + 3) / 4))
  # While no replica is ready, one page at a time on each that is not. It counts for a replica once more: Nginx counts for each name.
  export WEB_FALLBACK_PAGES=${WEB_FALLBACK_UPSTREAM:+"server $WEB_FALLBACK_UPSTREAM resolve backup max_fails=0 max_conns=1;"}
  render concurrent-pages.conf
else
  leave_out concurrent-pages.conf
fi
