#!/bin/sh
# Limits of one client for pages and files, off by default: thousands of people may share one address behind NAT.
set -eu
. "$(dirname "$0")/checks.sh"
. "$(dirname "$0")/render.sh"

# check_limit SETTING VALUE UNIT MAX: on success, whether the limit is on.
check_limit() {
  [ "$2" != off ] || return 1
  is_number "$2" 1 "$4" ||
    refuse "$1" "'$2' is not a number of $3" "use a whole number from 1 to $4, or off"
}

MEDIUM_BODY_CLASS=medium
REQUEST_RATE_ZONE='' REQUEST_RATE_LIMIT='' OPEN_REQUESTS_ZONE='' OPEN_REQUESTS_LIMIT=''
if check_limit REQUEST_RATE_PER_CLIENT "$REQUEST_RATE_PER_CLIENT" "requests per second" 999999; then
  # shellcheck disable=SC2016 # Nginx's variable
  REQUEST_RATE_ZONE='limit_req_zone $client_network zone=client_requests:8m rate='"${REQUEST_RATE_PER_CLIENT}r/s;"
  # A page comes with dozens of files at once.
  REQUEST_RATE_LIMIT="limit_req zone=client_requests burst=200 nodelay;"
fi
if check_limit OPEN_REQUESTS_PER_CLIENT "$OPEN_REQUESTS_PER_CLIENT" "open requests" 65535; then
  # shellcheck disable=SC2016
  OPEN_REQUESTS_ZONE='limit_conn_zone $client_network zone=client_open:8m;'
  # shellcheck disable=SC2016
  MEDIUM_BODY_CLASS='$medium_if_few_requests'
  leave_out page-body-limits.conf
  OPEN_REQUESTS_LIMIT="limit_conn client_open $OPEN_REQUESTS_PER_CLIENT;"
fi
export REQUEST_RATE_ZONE REQUEST_RATE_LIMIT OPEN_REQUESTS_ZONE OPEN_REQUESTS_LIMIT MEDIUM_BODY_CLASS
render page-body-sizes.conf
limits_on=$REQUEST_RATE_LIMIT$OPEN_REQUESTS_LIMIT
for template in client-limits.conf client-limit-zones.conf; do
  if [ -n "$limits_on" ]; then render "$template"; else leave_out "$template"; fi
done
