# shellcheck shell=sh
# The settings, a line for each: type, name, default. Their meaning: docs/settings.md. Templates are rendered into location, server_name and
# other directives, where `nginx -t` accepts almost anything.

socket_fix="use the path where the app opens its WebSockets, such as /socket"
health_fix="use a path below BASE_PATH that web answers with a status below 500, such as /healthz or /"

default SENTRY_DSN ''
list TUNNEL_ALLOWED_DSNS '' "separate DSNs by spaces"
path TUNNEL_PATH /monitoring "use a path of your own such as /monitoring or /api/reports"
choice TUNNEL_CLIENT_IP forward policy truncate withhold
number TUNNEL_RATE_PER_CLIENT 50 1 999999 "envelopes per second"
upstream SPOOL_UPSTREAM '' "use the spool's address, such as spool:8082"
file INGEST_CA_FILE /etc/ssl/certs/ca-certificates.crt

upstream WEB_UPSTREAM web:3000 "use the app's address, such as web:3000"
upstream WEB_FALLBACK_UPSTREAM '' "use the name of all replicas of web, such as web-all:3000"
path BASE_PATH '' "use the app's basePath from next.config, such as /shop, or leave it empty"
default HEALTH_PATH /healthz
size MAX_BODY_SIZE 100m
duration RESPONSE_TIMEOUT 5m
duration ASSET_RETENTION 7d
path WEBSOCKET_PATH '' "$socket_fix"
choice CONTENT_SECURITY_POLICY enforce mode report off
limit REQUEST_RATE_PER_CLIENT off 999999 "requests per second"
limit MAX_CONCURRENT_REQUESTS_PER_CLIENT '' 16000 requests
number MAX_CONCURRENT_REQUESTS 3000 1 30000 requests
limit MAX_CONCURRENT_PAGES_PER_REPLICA off 65535 pages

list SERVER_NAME localhost "separate names by spaces"
port HTTPS_PORT 8443
switch HTTP3
default HSTS_MAX_AGE ''
list TRUSTED_PROXIES '' "separate addresses by spaces"
switch PROXY_PROTOCOL
default INTERNAL_NETWORK ''
switch ACME
default TLS_CERT_FILE ''
default TLS_KEY_FILE ''

# What depends on two settings, or is no type.
case $WEBSOCKET_PATH/ in "$TUNNEL_PATH"/*) refuse WEBSOCKET_PATH "'$WEBSOCKET_PATH' belongs to the tunnel" "$socket_fix" ;; esac
case $BASE_PATH/ in
  "$TUNNEL_PATH"/*) refuse BASE_PATH "'$BASE_PATH' is below TUNNEL_PATH, which belongs to the tunnel" "set another TUNNEL_PATH" ;;
esac
case $HEALTH_PATH in
  *[!A-Za-z0-9/._~-]*) refuse HEALTH_PATH "'$HEALTH_PATH' has a character outside A-Z a-z 0-9 / . _ ~ -" "$health_fix" ;;
  *//* | */./* | */../* | */. | */..) refuse HEALTH_PATH "'$HEALTH_PATH' has an empty segment or one of dots" "$health_fix" ;;
  /*) ;;
  *) refuse HEALTH_PATH "'$HEALTH_PATH' does not start with a slash" "$health_fix" ;;
esac
[ "${#HEALTH_PATH}" -le 200 ] || refuse HEALTH_PATH "has ${#HEALTH_PATH} characters" "$health_fix, of 200 characters at most"
is_number "${HSTS_MAX_AGE:-0}" 0 999999999 ||
  refuse HSTS_MAX_AGE "'$HSTS_MAX_AGE' is not a number of seconds" "use 0 for off, or 31536000 for a year"
