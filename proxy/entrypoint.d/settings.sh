# shellcheck shell=sh
# The settings, a line for each: type, name, default. Templates are rendered into location, server_name and other directives, where
# `nginx -t` accepts almost anything.

# Written by `make settings` from deploy/settings/settings.json.
default SENTRY_DSN ''
file INGEST_CA_FILE /etc/ssl/certs/ca-certificates.crt
path TUNNEL_PATH /monitoring "use a path of your own such as /monitoring or /api/reports"
list TUNNEL_ALLOWED_DSNS '' "separate DSNs by spaces"
choice TUNNEL_CLIENT_IP forward policy truncate withhold
number TUNNEL_RATE_PER_CLIENT 50 1 999999 "envelopes per second"
list SERVER_NAME localhost "separate names by spaces"
port HTTPS_PORT 8443
switch ACME
file TLS_CERT_FILE ''
file TLS_KEY_FILE ''
switch HTTP3
default HSTS_MAX_AGE ''
list TRUSTED_PROXIES '' "separate addresses by spaces"
switch PROXY_PROTOCOL
path BASE_PATH '' "use the app's basePath from next.config, such as /shop, or leave it empty"
size MAX_BODY_SIZE 100m
duration RESPONSE_TIMEOUT 5m
limit REQUEST_RATE_PER_CLIENT off 999999 "requests per second"
limit MAX_CONCURRENT_REQUESTS_PER_CLIENT '' 16000 "requests"
number MAX_CONCURRENT_REQUESTS 3000 1 30000 "requests"
limit MAX_CONCURRENT_PAGES_PER_REPLICA off 65535 "pages"
path WEBSOCKET_PATH '' "use the path where the app opens its WebSockets, such as /socket"
choice CONTENT_SECURITY_POLICY enforce mode report off
default INTERNAL_NETWORK ''
upstream WEB_UPSTREAM web:3000 "use the app's address, such as web:3000"
upstream WEB_FALLBACK_UPSTREAM '' "use the name of all replicas of web, such as web-all:3000"
upstream SPOOL_UPSTREAM '' "use the spool's address, such as spool:8082"
# End of what is written.

# What depends on two settings, or is no type.
case $WEBSOCKET_PATH/ in "$TUNNEL_PATH"/*) refuse WEBSOCKET_PATH "'$WEBSOCKET_PATH' belongs to the tunnel" "set another TUNNEL_PATH" ;; esac
case $BASE_PATH/ in
  "$TUNNEL_PATH"/*) refuse BASE_PATH "'$BASE_PATH' is below TUNNEL_PATH, which belongs to the tunnel" "set another TUNNEL_PATH" ;;
esac
is_number "${HSTS_MAX_AGE:-0}" 0 999999999 ||
  refuse HSTS_MAX_AGE "'$HSTS_MAX_AGE' is not a number of seconds" "use 0 for off, or 31536000 for a year"
