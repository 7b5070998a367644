#!/bin/sh
# The SDK's own tunnel paths: an app with `tunnel: true` posts to one, and its server, which has no way to the ingest, never sees it.
set -eu
. "$(dirname "$0")/sdk-tunnel-path.sh"

# DSNs are counted as in 30-ingest.sh: the path names the project, whatever the arguments are.
number=0 written=' '
for dsn in "$SENTRY_DSN" $(printf '%s' "${TUNNEL_ALLOWED_DSNS:-}" | tr ',' ' '); do
  number=$((number + 1))
  path=$(sdk_tunnel_path "$dsn")
  # A DSN that is listed twice.
  case $written in *" $path "*) continue ;; esac
  written="$written$path "
  # With a slash at its end where the app has Next's `trailingSlash`; below its base path as well, as TUNNEL_PATH is.
  for address in "$path" "$path/" ${BASE_PATH:+"$BASE_PATH$path" "$BASE_PATH$path/"}; do
    case $address in "$TUNNEL_PATH" | "${BASE_PATH:-}$TUNNEL_PATH") continue ;; esac
    # shellcheck disable=SC2016 # Nginx's variable, not the shell's
    printf 'location = %s {\n    set $ingest %s;\n    include snippets/envelope.conf;\n}\n' "$address" "$number"
  done
done >"$RENDERED/route-sdk-tunnel.conf"
