#!/bin/sh
# Starts Nginx after every step of entrypoint.d has said yes. A step checks settings and writes the configuration that
# follows from them; one that finds bad input prints one line and ends the container.
set -eu

export TUNNEL_PATH="${TUNNEL_PATH:-/monitoring}"
export TUNNEL_CLIENT_IP="${TUNNEL_CLIENT_IP:-forward}"
export TUNNEL_RATE_PER_CLIENT="${TUNNEL_RATE_PER_CLIENT:-50}"
export TUNNEL_RATE_TOTAL="${TUNNEL_RATE_TOTAL:-2000}"
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
# /tmp may outlive a container that was killed (an emptyDir of Kubernetes does): a socket left there cannot be bound again, and
# nobody removes the temporary files of requests that were cut off.
rm -rf "$RENDERED" /tmp/client-body /tmp/proxy /tmp/reports/*
mkdir -p "$RENDERED"

for step in /culvert/entrypoint.d/[0-9]*.sh; do
  "$step"
done

nginx -t -q
exec nginx -g 'daemon off;'
