#!/bin/sh
# entrypoint.sh [render]: starts Nginx; with `render`, prints its configuration instead.
# shellcheck disable=SC2034 # variables of templates
set -eu
steps=${0%/*}/entrypoint.d
# Exports all variables: to the templates (render.sh) and the programs below.
set -a
RENDERED=/tmp/nginx
# Nine hex digits that tell this start from others.
START_ID=$(od -An -N5 -tx1 /dev/urandom | tr -d ' ' | cut -c 1-9)
# An emptyDir of Kubernetes outlives a killed container: a socket left there cannot be bound again.
rm -rf "$RENDERED" /tmp/client-body /tmp/proxy /tmp/envelopes/*
mkdir -p "$RENDERED/routes" "$RENDERED/ingest"
# Lists in settings are no patterns of files.
set -f

for step in values settings limits public-listeners origins internal-network render sets \
  sdk-tunnel-path ingest certificate; do
  # shellcheck source=/dev/null
  . "$steps/$step.sh"
done
render_all

[ "${1:-}" != render ] || exec nginx -T -q
"$steps/watch-certificate.sh"
"$steps/watch-workers.sh"
[ "$WEB" = off ] || [ -z "$WEB_SETS" ] || "$steps/watch-sets.sh"
exec nginx -g 'daemon off;'
