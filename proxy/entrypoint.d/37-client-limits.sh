#!/bin/sh
# Limits for pages and files: requests that are open at one time, of all clients and of one, and the rates of one client. Thousands of people
# may share one address behind NAT: by default no rate applies to a client that leaves the app to others.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/render.sh"

REQUEST_RATE_ZONE='' REQUEST_RATE_LIMIT='' PAGE_RATE_ZONE='' PAGE_RATE_LIMIT=''
OPEN_REQUESTS_ZONE='' OPEN_REQUESTS_LIMIT='' OPEN_PAGES_ZONE='' OPEN_PAGES_LIMIT=''
if check_limit REQUEST_RATE_PER_CLIENT "$REQUEST_RATE_PER_CLIENT" "requests per second" 999999; then
  # shellcheck disable=SC2016 # Nginx's variable
  REQUEST_RATE_ZONE='limit_req_zone $client_network zone=client_requests:8m rate='"${REQUEST_RATE_PER_CLIENT}r/s;"
  # A page comes with dozens of files at once.
  REQUEST_RATE_LIMIT="limit_req zone=client_requests burst=200 nodelay;"
fi
if [ -z "$PAGE_RATE_PER_CLIENT" ]; then
  # Clients behind the addresses of a CDN have no limits of their own.
  if [ "${OPEN_REQUESTS_PER_CLIENT:-}" != off ]; then
    # Keys of njs/pages.js. A prefetch waits for 2 s at most: a click may wait for it.
    # shellcheck disable=SC2016
    PAGE_RATE_ZONE='limit_req_zone $limited_page zone=client_page_rate:3m rate=20r/s;
limit_req_zone $limited_prefetch zone=client_prefetch_rate:1m rate=50r/s;'
    PAGE_RATE_LIMIT="limit_req zone=client_page_rate burst=1000;
limit_req zone=client_prefetch_rate burst=100;"
  fi
elif check_limit PAGE_RATE_PER_CLIENT "$PAGE_RATE_PER_CLIENT" "pages per second" 1000; then
  # shellcheck disable=SC2016
  PAGE_RATE_ZONE='limit_req_zone $client_network zone=client_page_rate:4m rate='"${PAGE_RATE_PER_CLIENT}r/s;"
  # A second's worth passes at once: a page calls APIs and prefetches links. At most a minute's worth waits, since nobody waits longer, and
  # no more than one client may have open by default.
  burst=$((PAGE_RATE_PER_CLIENT * 60))
  [ "$burst" -le 1000 ] || burst=1000
  PAGE_RATE_LIMIT="limit_req zone=client_page_rate burst=$burst delay=$PAGE_RATE_PER_CLIENT;"
fi

# shellcheck disable=SC2016
client='$client_network' limit=${OPEN_REQUESTS_PER_CLIENT:-}
if [ -z "$limit" ]; then
  # A third of the default total.
  # shellcheck disable=SC2016
  client='$public_client_network' limit=1000
fi
if check_limit OPEN_REQUESTS_PER_CLIENT "$limit" "open requests" 65535; then
  OPEN_REQUESTS_ZONE="limit_conn_zone $client zone=client_open:8m;"
  # Before the total (client-limit-zones.conf).
  OPEN_REQUESTS_LIMIT="limit_conn client_open $limit;"
fi
# Half of one replica's places: Nginx cannot take a share of all, whose number changes with the replicas. `off` is for clients behind
# the addresses of a CDN.
if [ "$OPEN_PAGES_PER_REPLICA" != off ] && [ "$limit" != off ]; then
  # shellcheck disable=SC2016
  OPEN_PAGES_ZONE='limit_conn_zone $page_client zone=client_pages:1m;'
  OPEN_PAGES_LIMIT="limit_conn client_pages $(((OPEN_PAGES_PER_REPLICA + 1) / 2));"
fi
export REQUEST_RATE_ZONE REQUEST_RATE_LIMIT PAGE_RATE_ZONE PAGE_RATE_LIMIT
export OPEN_REQUESTS_ZONE OPEN_REQUESTS_LIMIT OPEN_PAGES_ZONE OPEN_PAGES_LIMIT
render open-request-limits.conf client-limits.conf page-rates.conf client-limit-zones.conf
