#!/bin/sh
# Settings that describe the app: its paths and its limits.
set -eu
. "${0%/*}/checks.sh"

[ -z "$BASE_PATH" ] ||
  check_path BASE_PATH "$BASE_PATH" "use the app's basePath from next.config, such as /shop, or leave it empty"
case $BASE_PATH/ in
  "$TUNNEL_PATH"/*) refuse BASE_PATH "'$BASE_PATH' is below TUNNEL_PATH, which belongs to the tunnel" "set another TUNNEL_PATH" ;;
esac

health_fix="use a path below BASE_PATH that web answers with a status below 500, such as /healthz or /"
case $HEALTH_PATH in
  *[!A-Za-z0-9/._~-]*) refuse HEALTH_PATH "'$HEALTH_PATH' has a character outside A-Z a-z 0-9 / . _ ~ -" "$health_fix" ;;
  *//* | */./* | */../* | */. | */..) refuse HEALTH_PATH "'$HEALTH_PATH' has an empty segment or one of dots" "$health_fix" ;;
  /*) ;;
  *) refuse HEALTH_PATH "'$HEALTH_PATH' does not start with a slash" "$health_fix" ;;
esac
[ "${#HEALTH_PATH}" -le 200 ] || refuse HEALTH_PATH "has ${#HEALTH_PATH} characters" "$health_fix, of 200 characters at most"

if ! is_size "$MAX_BODY_SIZE" || [ "$MAX_BODY_SIZE" = 0 ]; then
  refuse MAX_BODY_SIZE "'$MAX_BODY_SIZE' is not a size" "use a number and a unit (k, m, g), such as 100m"
fi
is_time "$RESPONSE_TIMEOUT" ||
  refuse RESPONSE_TIMEOUT "'$RESPONSE_TIMEOUT' is not a time" "use a number and a unit (s, m, h, d, w), such as 5m"
