#!/bin/sh
# With SPOOL_UPSTREAM (name:port), reports that the ingest can't take go to the spool; without, the browser is told to keep them.
set -eu
. "$(dirname "$0")/refuse.sh"

if [ -z "${SPOOL_UPSTREAM:-}" ]; then
  echo 'error_page 502 504 530 = @tunnel_down;' >"$RENDERED/on-outage.conf"
  : >"$RENDERED/route-spool.conf"
  : >"$RENDERED/spool.conf"
  exit 0
fi

printf '%s\n' "$SPOOL_UPSTREAM" | grep -qE '^[A-Za-z0-9._-]+:[0-9]{1,5}$' ||
  refuse SPOOL_UPSTREAM "'$SPOOL_UPSTREAM' is not name:port" "use the spool's address, such as spool:8082"

cat >"$RENDERED/spool.conf" <<CONF
upstream spool {
    zone spool 64k;
    server $SPOOL_UPSTREAM resolve fail_timeout=5s;
    keepalive 64;
    keepalive_timeout 4s;
}
CONF
echo 'include snippets/route-spool.conf;' >"$RENDERED/route-spool.conf"

# An ingest that failed several times in a row is asked once a second; the other reports don't wait for it to fail again.
cat >"$RENDERED/on-outage.conf" <<'CONF'
error_page 500 502 503 504 520 521 522 523 524 530 599 = @spool;
proxy_intercept_errors on;
recursive_error_pages on;
if ($ingest_is_out) {
    return 599;
}
CONF
