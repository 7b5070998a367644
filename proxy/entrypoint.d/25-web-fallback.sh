#!/bin/sh
# With WEB_FALLBACK_UPSTREAM (name:port), requests go there while WEB_UPSTREAM's name leads nowhere or no address of it answers. On
# Kubernetes: the replicas that are not ready, when none is.
set -eu
. "$(dirname "$0")/checks.sh"

: >"$RENDERED/web-fallback.conf"
[ -n "${WEB_FALLBACK_UPSTREAM:-}" ] || exit 0
is_host_and_port "$WEB_FALLBACK_UPSTREAM" ||
  refuse WEB_FALLBACK_UPSTREAM "'$WEB_FALLBACK_UPSTREAM' is not name:port" "use the name of all replicas of web, such as web-all:3000"
echo "server $WEB_FALLBACK_UPSTREAM resolve backup max_fails=0;" >"$RENDERED/web-fallback.conf"
