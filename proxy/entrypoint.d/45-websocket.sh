#!/bin/sh
# With WEBSOCKET_PATH, that path and everything below it may open WebSockets; without it, nothing may.
set -eu
. "${0%/*}/render.sh"

[ -n "${WEBSOCKET_PATH:-}" ] || leave_out routes/websocket.conf
