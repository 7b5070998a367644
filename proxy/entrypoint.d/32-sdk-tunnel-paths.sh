#!/bin/sh
# The SDK's own tunnel paths: an app with `tunnel: true` posts to one, and its server, which cannot reach the ingest, never sees it.
set -eu
. "${0%/*}/lists.sh"
. "${0%/*}/sdk-tunnel-path.sh"
. "${0%/*}/render.sh"

# DSNs are numbered as in 30-ingest.sh: the path selects the project, whatever the arguments are.
INGEST=0 seen=' '
split "${TUNNEL_ALLOWED_DSNS:-}"
for dsn in "$SENTRY_DSN" $entries; do
  INGEST=$((INGEST + 1))
  path=$(sdk_tunnel_path "$dsn")
  # A DSN that is listed twice.
  case $seen in *" $path "*) continue ;; esac
  seen="$seen$path "
  # With a trailing slash if the app has Next's `trailingSlash`; below its base path as well, as TUNNEL_PATH is.
  for SDK_TUNNEL_PATH in "$path" "$path/" ${BASE_PATH:+"$BASE_PATH$path" "$BASE_PATH$path/"}; do
    case $SDK_TUNNEL_PATH in "$TUNNEL_PATH" | "${BASE_PATH:-}$TUNNEL_PATH") continue ;; esac
    export INGEST SDK_TUNNEL_PATH
    render routes/sdk-tunnel-path.conf
  done
done
