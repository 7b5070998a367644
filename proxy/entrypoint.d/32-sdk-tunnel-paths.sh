#!/bin/sh
# The SDK's own tunnel paths: an app with `tunnel: true` posts to one, and its server, which has no way to the ingest, never sees it.
set -eu
. "$(dirname "$0")/sdk-tunnel-path.sh"

# DSNs are counted as in 30-ingest.sh: the path names the project, whatever the arguments are.
number=0 written=' '
for dsn in "$SENTRY_DSN" $(printf '%s' "${TUNNEL_ALLOWED_DSNS:-}" | tr ',' ' '); do
  number=$((number + 1))
  path=${BASE_PATH:-}$(sdk_tunnel_path "$dsn")
  # Twice in the list, or TUNNEL_PATH itself.
  case "$written$TUNNEL_PATH ${BASE_PATH:-}$TUNNEL_PATH " in *" $path "*) continue ;; esac
  written="$written$path "
  # With a slash at its end where the app has Next's `trailingSlash`.
  for address in "$path" "$path/"; do
    # shellcheck disable=SC2016 # Nginx's variable, not the shell's
    printf 'location = %s {\n    set $ingest %s;\n    include snippets/envelope.conf;\n}\n' "$address" "$number"
  done
done >"$RENDERED/route-sdk-tunnel.conf"
