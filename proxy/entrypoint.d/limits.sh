# shellcheck shell=sh disable=SC2016,SC2034
# Numbers for main.conf, app-limits.conf and tunnel-limits.conf of templates/.

TUNNEL_RATE_TOTAL=$((40 * TUNNEL_RATE_PER_CLIENT))
RATE_LIMITED_CLIENT='$client_network' REQUEST_RATE_PER_SECOND=$REQUEST_RATE_PER_CLIENT
[ "$REQUEST_RATE_PER_CLIENT" != off ] || RATE_LIMITED_CLIENT='""' REQUEST_RATE_PER_SECOND=1
MAX_REQUESTS_OF_SITE=$(((MAX_CONCURRENT_REQUESTS + 2) / 3))
LIMITED_CLIENTS='public|private' MAX_AT_WEB_OF_CLIENT=$MAX_CONCURRENT_REQUESTS_PER_CLIENT
case $MAX_AT_WEB_OF_CLIENT in
  '') LIMITED_CLIENTS=public MAX_AT_WEB_OF_CLIENT=300 ;;
  off) LIMITED_CLIENTS=none MAX_AT_WEB_OF_CLIENT=1 ;;
esac
MAX_AT_WEB_OF_SITE=$((4 * MAX_AT_WEB_OF_CLIENT))

# With WEB_FALLBACK_UPSTREAM, requests go there while WEB_UPSTREAM's name has no address or none of them answers. In
# Kubernetes: the replicas that are not ready, while none is ready.
WEB_FALLBACK=${WEB_FALLBACK_UPSTREAM:+"server $WEB_FALLBACK_UPSTREAM resolve backup max_fails=0;"}

# SPOOL_FALLBACK_UPSTREAM is asked last, and means that the spool has replicas: then one that hangs is left after 2 s.
SPOOL_FALLBACK=${SPOOL_FALLBACK_UPSTREAM:+"server $SPOOL_FALLBACK_UPSTREAM resolve max_fails=0 backup;"}
[ -n "$SPOOL_FALLBACK" ] && SPOOL_TIMEOUT=2s || SPOOL_TIMEOUT=10s

# At most four workers, because each takes memory.
WORKERS=$(nproc)
[ "$WORKERS" -le 4 ] || WORKERS=4
# 8192 connections in total with the default of 3,000 open requests (SECURITY.md). Each further request needs two, the
# client's and one to web.
further=$((MAX_CONCURRENT_REQUESTS > 3000 ? 2 * (MAX_CONCURRENT_REQUESTS - 3000) : 0))
WORKER_CONNECTIONS=$(((8192 + further) / WORKERS))
# Files of one worker, which also has files of the store open.
WORKER_FILES=$((20000 + further))
