#!/bin/sh
# With WEB_FALLBACK_UPSTREAM (name:port), requests go there while WEB_UPSTREAM's name has no address or none of them answers. In
# Kubernetes: the replicas that are not ready, while none is ready. Rendered by 50-templates.sh.
set -eu
. "${0%/*}/checks.sh"

[ -n "${WEB_FALLBACK_UPSTREAM:-}" ] || exit 0
is_host_and_port "$WEB_FALLBACK_UPSTREAM" ||
  refuse WEB_FALLBACK_UPSTREAM "'$WEB_FALLBACK_UPSTREAM' is not name:port" "use the name of all replicas of web, such as web-all:3000"
