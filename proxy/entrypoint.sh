#!/bin/sh
# entrypoint.sh [render]: starts Nginx after the steps of entrypoint.d; with `render`, prints its whole configuration instead.
# A step checks settings and renders the configuration that follows from them; bad input ends the container with a one-line error.
set -eu

export TUNNEL_PATH="${TUNNEL_PATH:-/monitoring}"
export TUNNEL_CLIENT_IP="${TUNNEL_CLIENT_IP:-forward}"
export TUNNEL_RATE_PER_CLIENT="${TUNNEL_RATE_PER_CLIENT:-50}"
export ACME="${ACME:-off}"
export REQUEST_RATE_PER_CLIENT="${REQUEST_RATE_PER_CLIENT:-off}"
export MAX_CONCURRENT_REQUESTS="${MAX_CONCURRENT_REQUESTS:-3000}"
export MAX_CONCURRENT_PAGES_PER_REPLICA="${MAX_CONCURRENT_PAGES_PER_REPLICA:-off}"
export HTTP3="${HTTP3:-off}"
export SERVER_NAME="${SERVER_NAME:-localhost}"
export HTTPS_PORT="${HTTPS_PORT:-8443}"
export ASSET_RETENTION="${ASSET_RETENTION:-7d}"
export CONTENT_SECURITY_POLICY="${CONTENT_SECURITY_POLICY:-enforce}"
export WEB_UPSTREAM="${WEB_UPSTREAM:-web:3000}"
export BASE_PATH="${BASE_PATH:-}"
export HEALTH_PATH="${HEALTH_PATH:-/healthz}"
export MAX_BODY_SIZE="${MAX_BODY_SIZE:-100m}"
export RESPONSE_TIMEOUT="${RESPONSE_TIMEOUT:-5m}"

export RENDERED=/tmp/nginx
# Written by deploy/acme.
export ACME_PAIR=/srv/certificates/current/server
# /tmp may outlive a killed container (an emptyDir of Kubernetes does): a socket left there cannot be bound again, and the temporary
# files of interrupted requests would stay forever.
rm -rf "$RENDERED" /tmp/client-body /tmp/proxy /tmp/envelopes/*
mkdir -p "$RENDERED/routes"

for step in /culvert/entrypoint.d/[0-9]*.sh; do
  "$step"
done

[ "${1:-}" != render ] || exec nginx -T -q
# Nginx that wakes up lets another program finish its few milliseconds, which on the same core is often web in the middle of a page; on a free
# core nothing changes (loadtest/bench/README.md, Overload). Not every sandbox lets a process choose.
set -- nginx -g 'daemon off;'
if chrt --batch 0 true 2>/dev/null; then set -- chrt --batch 0 "$@"; fi
exec "$@"
