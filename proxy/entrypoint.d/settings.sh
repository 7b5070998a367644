# shellcheck shell=sh
# The settings: name, default, what another value must be, the fix, the check. `nginx -t` would accept almost anything.

# Written by `make settings` from deploy/settings/settings.json.
setting SENTRY_DSN ''
setting INGEST_CA_FILE /etc/ssl/certs/ca-certificates.crt "a whole path of A-Z a-z 0-9 / . _ @ + -" \
  "mount the file under another name" is '/[A-Za-z0-9/._@+-]*'
setting TUNNEL_PATH /monitoring "a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next" \
  "use a path of your own such as /monitoring or /api/reports" is_path
setting TUNNEL_ALLOWED_DSNS '' "a line without \" ; { } \$ \\" "separate DSNs by spaces" is_line
setting TUNNEL_ALLOWED_ORIGINS '' "a line without \" ; { } \$ \\" "separate origins by spaces" is_line
setting TUNNEL_CLIENT_IP forward "a policy" "use forward, truncate or withhold" is 'forward|truncate|withhold'
setting TUNNEL_RATE_PER_CLIENT 50 "a number of envelopes per second" \
  "use a whole number from 1 to 999999" is_number 1 999999
setting SERVER_NAME localhost "a line without \" ; { } \$ \\" "separate names by spaces" is_line
setting HTTPS_PORT 8443 "a port" "use a number from 1 to 65535, such as 8443" is_port
setting ACME off "a switch" "use on or off" is 'on|off'
setting TLS_CERT_FILE '' "a whole path of A-Z a-z 0-9 / . _ @ + -" \
  "mount the file under another name" is '/[A-Za-z0-9/._@+-]*'
setting TLS_KEY_FILE '' "a whole path of A-Z a-z 0-9 / . _ @ + -" \
  "mount the file under another name" is '/[A-Za-z0-9/._@+-]*'
setting HTTP3 off "a switch" "use on or off" is 'on|off'
setting HSTS_MAX_AGE '' "a number of seconds" "use a whole number from 0 to 999999999" is_number 0 999999999
setting TRUSTED_PROXIES '' "a line without \" ; { } \$ \\" "separate addresses by spaces" is_line
setting PROXY_PROTOCOL off "a switch" "use on or off" is 'on|off'
setting SHARED_CACHE auto "a mode" "use auto or off" is 'auto|off'
setting BASE_PATH '' "a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next" \
  "use the app's basePath from next.config, such as /shop, or leave it empty" is_path
setting MAX_BODY_SIZE 100m "a size" "use a number and a unit (k, m, g), such as 100m" is_size
setting RESPONSE_TIMEOUT 5m "a time" "use a number and a unit (s, m, h, d, w), such as 5m" is_time
setting REQUEST_RATE_PER_CLIENT off "a number of requests per second" \
  "use a whole number from 1 to 999999, or off" is_limit 1 999999
setting MAX_CONCURRENT_REQUESTS_PER_CLIENT '' "a number of requests" \
  "use a whole number from 1 to 16000, or off" is_limit 1 16000
setting MAX_CONCURRENT_REQUESTS 3000 "a number of requests" "use a whole number from 1 to 30000" is_number 1 30000
setting WEBSOCKET_PATH '' "a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next" \
  "use the path where the app opens its WebSockets, such as /socket" is_path
setting WEBSOCKET_ALLOWED_ORIGINS '' "a line without \" ; { } \$ \\" "separate origins by spaces" is_line
setting CONTENT_SECURITY_POLICY enforce "a mode" "use enforce, report or off" is 'enforce|report|off'
setting INTERNAL_NETWORK ''
setting WEB_UPSTREAM web:3000 "name:port" "use the app's address, such as web:3000" is_host_and_port
setting WEB_FALLBACK_UPSTREAM '' "name:port" \
  "use the name of all replicas of web, such as web-all:3000" is_host_and_port
setting WEB_SETS '' "a line without \" ; { } \$ \\" "separate addresses by spaces" is_line
setting SPOOL_UPSTREAM '' "name:port" "use the spool's address, such as spool:8082" is_host_and_port
setting SPOOL_FALLBACK_UPSTREAM '' "name:port" \
  "use a name of the spool's ready replicas, such as spool:8082" is_host_and_port
# End of what is written.

case $WEBSOCKET_PATH/ in
  "$TUNNEL_PATH"/*) refuse WEBSOCKET_PATH "'$WEBSOCKET_PATH' belongs to the tunnel" "set another TUNNEL_PATH" ;;
esac
case $BASE_PATH/ in
  "$TUNNEL_PATH"/*) refuse BASE_PATH "'$BASE_PATH' is below TUNNEL_PATH, which belongs to the tunnel" \
    "set another TUNNEL_PATH" ;;
esac
