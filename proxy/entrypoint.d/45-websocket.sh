#!/bin/sh
# With WEBSOCKET_PATH, that path and what is below it may become WebSockets; without, nothing may.
set -eu

if [ -z "${WEBSOCKET_PATH:-}" ]; then
  : >"$RENDERED/route-websocket.conf"
  exit 0
fi
cat >"$RENDERED/route-websocket.conf" <<CONF
location ~ ^$WEBSOCKET_PATH(/|\$) {
    set \$route websocket;
    include snippets/page.conf;
    include snippets/websocket.conf;
    proxy_request_buffering off;
    client_max_body_size $MAX_BODY_SIZE;
}
CONF
