# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# Patterns of names and origins for templates/tunnel-origins.conf and templates/web-upstream.conf.

pattern_of() { echo "$*" | sed 's/[].[+]/\\&/g; s/ /|/g'; }

is_origin() {
  is "$1" '[a-z][a-z0-9+.-]*://[^/]+' && { is_host "${1#*://}" || is_host_and_port "${1#*://}"; }
}

# origins SETTING VALUE BEFORE AFTER: prints a map's line for each origin. Any site's sandboxed frame has the origin
# `null`: it must not open sockets, which have cookies.
origins() {
  for origin in $(without_commas "$2" | tr '[:upper:]' '[:lower:]'); do
    [ "$1 $origin" = "TUNNEL_ALLOWED_ORIGINS null" ] || is_origin "$origin" ||
      refuse "$1" "'$origin' is not an origin" "list origins such as https://shop.example.com"
    case $origin in http://*:80 | https://*:443) origin=${origin%:*} ;; esac
    echo "\"~^$3$(pattern_of "$origin")$4;"
  done
}

# shellcheck disable=SC2086 # lists of names
ORIGIN_NAMES=$(pattern_of $served) SERVER_NAMES=$(pattern_of $names)
TUNNEL_ORIGINS=$(origins TUNNEL_ALLOWED_ORIGINS "$TUNNEL_ALLOWED_ORIGINS" '' '\z" $foreign_origin')
WEBSOCKET_ORIGINS=$(origins WEBSOCKET_ALLOWED_ORIGINS "$WEBSOCKET_ALLOWED_ORIGINS" 'websocket ' ' " ""')
