#!/bin/sh
# With SPOOL_UPSTREAM (name:port), reports that the ingest can't take go to the spool; without, the browser is told to keep them.
set -eu
. "$(dirname "$0")/checks.sh"

if [ -z "${SPOOL_UPSTREAM:-}" ]; then
  refuge=@tunnel_down
  : >"$RENDERED/route-spool.conf"
  : >"$RENDERED/spool.conf"
else
  is_host_and_port "$SPOOL_UPSTREAM" ||
    refuse SPOOL_UPSTREAM "'$SPOOL_UPSTREAM' is not name:port" "use the spool's address, such as spool:8082"
  refuge=@spool
  echo 'include snippets/route-spool.conf;' >"$RENDERED/route-spool.conf"
  cat >"$RENDERED/spool.conf" <<CONF
upstream spool {
    zone spool 64k;
    server $SPOOL_UPSTREAM resolve fail_timeout=5s;
    keepalive 64;
    keepalive_timeout 4s;
}
CONF
fi

# The edge's own words (snippets/report-limits.conf), unless it was an ingest that said so: 500 is "no room for the body" and 591
# "too many open". What there is no room for can't be handed on either; the browser has to keep it.
cat >>"$RENDERED/spool.conf" <<CONF
map \$upstream_status \$after_500 {
    ""       @no_room;
    default  $refuge;
}
map \$upstream_status \$after_590 {
    ""       @tunnel_flooded;
    default  $refuge;
}
map "\$upstream_status \$limited_large" \$after_591 {
    "~(?s)^ ."  @no_room;
    default     $refuge;
}
CONF

# Every 5xx: a CDN before the ingest has more of them than the standard.
cat >"$RENDERED/on-outage.conf" <<CONF
error_page 500 = \$after_500;
error_page 591 = \$after_591;
error_page $(seq -s ' ' 500 599) = $refuge;
proxy_intercept_errors on;
recursive_error_pages on;
CONF
