#!/bin/sh
# Settings that are rendered into location, server_name and other directives, where `nginx -t` accepts almost anything.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/lists.sh"

tunnel_fix="use a path of your own such as /monitoring or /api/reports"
[ "$TUNNEL_PATH" != / ] || refuse TUNNEL_PATH "'/' would hide the whole app" "$tunnel_fix"
check_path TUNNEL_PATH "$TUNNEL_PATH" "$tunnel_fix"
websocket_fix="use the path where the app opens its WebSockets, such as /socket"
case ${WEBSOCKET_PATH:-} in
  '') ;;
  /) refuse WEBSOCKET_PATH "'/' would open every path" "$websocket_fix" ;;
  "$TUNNEL_PATH" | "$TUNNEL_PATH"/*) refuse WEBSOCKET_PATH "'$WEBSOCKET_PATH' belongs to the tunnel" "$websocket_fix" ;;
  *) check_path WEBSOCKET_PATH "$WEBSOCKET_PATH" "$websocket_fix" ;;
esac

case $TUNNEL_CLIENT_IP in
  forward | truncate | withhold) ;;
  *) refuse TUNNEL_CLIENT_IP "'$TUNNEL_CLIENT_IP' is not a policy" "use forward, truncate or withhold" ;;
esac

is_number "$TUNNEL_RATE_PER_CLIENT" 1 999999 ||
  refuse TUNNEL_RATE_PER_CLIENT "'$TUNNEL_RATE_PER_CLIENT' is not a number of envelopes per second" "use a whole number from 1 to 999999"

check_switch HTTP3 "$HTTP3"

case $CONTENT_SECURITY_POLICY in
  enforce | report | off) ;;
  *) refuse CONTENT_SECURITY_POLICY "'$CONTENT_SECURITY_POLICY' is not a mode" "use enforce, report or off" ;;
esac

is_time "$ASSET_RETENTION" ||
  refuse ASSET_RETENTION "'$ASSET_RETENTION' is not a time" "use a number and a unit (s, m, h, d, w), such as 7d"

is_number "${HSTS_MAX_AGE:-0}" 0 999999999 ||
  refuse HSTS_MAX_AGE "'$HSTS_MAX_AGE' is not a number of seconds" "use 0 for off, or 31536000 for a year"

names_fix="use the names people type, separated by spaces, without scheme, port or wildcard, such as app.example.com"
is_list "$SERVER_NAME" || refuse SERVER_NAME "'$SERVER_NAME' has a control character" "$names_fix"
set -f
case $SERVER_NAME in *[!\ ,]*) ;; *) refuse SERVER_NAME "'$SERVER_NAME' has no name" "$names_fix" ;; esac
split "$SERVER_NAME"
for name in $entries; do
  is_name "$name" || is_ipv4 "$name" || refuse SERVER_NAME "'$name' is not a host name" "$names_fix"
done
set +f

is_port "$HTTPS_PORT" || refuse HTTPS_PORT "'$HTTPS_PORT' is not a port" "use a number from 1 to 65535, such as 8443"

is_host_and_port "$WEB_UPSTREAM" ||
  refuse WEB_UPSTREAM "'$WEB_UPSTREAM' is not name:port" "use the app's address, such as web:3000"
