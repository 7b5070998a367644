# shellcheck shell=sh disable=SC2034,SC2154
# For templates/tunnel-origins.conf: the names of SERVER_NAME as a pattern, at any port, and further origins.

ORIGIN_NAMES=$(echo "$served" | sed 's/^ //; s/ $//; s/[].[]/\\&/g; s/ /|/g')

is_origin() {
  [ "$1" = null ] || { is "$1" '[a-z][a-z0-9+.-]*://[^/]+' && { is_host "${1#*://}" ||
    is_host_and_port "${1#*://}"; }; }
}

ALLOWED_ORIGINS=''
set -f
for origin in $(without_commas "$TUNNEL_ALLOWED_ORIGINS" | tr '[:upper:]' '[:lower:]'); do
  is_origin "$origin" || refuse TUNNEL_ALLOWED_ORIGINS "'$origin' is not an origin" \
    "list origins such as https://shop.example.com"
  case $origin in http://*:80 | https://*:443) origin=${origin%:*} ;; esac
  case $ALLOWED_ORIGINS in *"\"$origin\""*) continue ;; esac
  ALLOWED_ORIGINS="$ALLOWED_ORIGINS \"$origin\" \$foreign_origin;"
done
set +f
