#!/bin/sh
# The settings that end up in location and server_name, where `nginx -t` would let almost anything pass.
set -eu
. "$(dirname "$0")/refuse.sh"

# check_path SETTING VALUE FIX
check_path() {
  case "$2" in
    /_next | /_next/*) refuse "$1" "'$2' belongs to Next.js" "$3" ;;
    /*[!A-Za-z0-9/_-]*) refuse "$1" "'$2' has a character outside A-Z a-z 0-9 / _ -" "$3" ;;
    */ | *//*) refuse "$1" "'$2' has an empty segment" "$3" ;;
    /*) ;;
    *) refuse "$1" "'$2' does not start with a slash" "$3" ;;
  esac
}
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

for name in TUNNEL_RATE_PER_CLIENT TUNNEL_RATE_TOTAL; do
  rate=$(printenv "$name")
  case $rate in
    '' | 0* | *[!0-9]* | ???????*) refuse "$name" "'$rate' is not a number of reports a second" "use a whole number from 1 to 999999" ;;
  esac
done

case $HTTP3 in
  on | off) ;;
  *) refuse HTTP3 "'$HTTP3' is neither on nor off" "use on or off" ;;
esac

case $CONTENT_SECURITY_POLICY in
  enforce | report | off) ;;
  *) refuse CONTENT_SECURITY_POLICY "'$CONTENT_SECURITY_POLICY' is not a mode" "use enforce, report or off" ;;
esac

echo "$ASSET_RETENTION" | grep -qE '^[1-9][0-9]{0,4}[smhdw]$' ||
  refuse ASSET_RETENTION "'$ASSET_RETENTION' is not a time" "use a number and a unit (s, m, h, d, w), such as 7d"

case ${HSTS_MAX_AGE:-0} in
  *[!0-9]* | ??????????*) refuse HSTS_MAX_AGE "'$HSTS_MAX_AGE' is not a number of seconds" "use 0 for off, or 31536000 for a year" ;;
esac

case "$SERVER_NAME" in
  *[!A-Za-z0-9.-]* | -* | .*) refuse SERVER_NAME "'$SERVER_NAME' is not a host name" \
    "use the one name people type, without scheme, port or wildcard, such as app.example.com" ;;
esac

case $HTTPS_PORT in
  *[!0-9]* | ??????*) bad=1 ;;
  *) bad=$((HTTPS_PORT < 1 || HTTPS_PORT > 65535)) ;;
esac
[ "$bad" = 0 ] || refuse HTTPS_PORT "'$HTTPS_PORT' is not a port" "use a number from 1 to 65535, such as 8443"
