# shellcheck shell=sh disable=SC2034,SC2154
# The tunnel's destination comes from configuration, never from the request: each DSN becomes a fixed upstream, and the
# arguments that a browser may send only select one of them (templates/ingest.conf).
fix="copy it from the project's Client Keys page: https://<key>@<host>/<project>"

# tunnel_route_arguments: sets what the SDK adds to a `tunnelRoute`: ?o=<org>&p=<project>[&r=<region>]; fails if the DSN's host is not
# Sentry's own.
tunnel_route_arguments() {
  region=''
  case $host in
    o*.ingest.sentry.io) organization=${host%.ingest.sentry.io} ;;
    o*.ingest.[a-z][a-z].sentry.io)
      organization=${host%.ingest.??.sentry.io} region=${host%.sentry.io}
      region=${region##*.}
      ;;
    *) return 1 ;;
  esac
  organization=${organization#o}
  case $organization in '' | *[!0-9]*) return 1 ;; esac
  arguments="o=$organization&p=$project${region:+&r=$region}"
}

# destination DSN SETTING: adds a line to each map, an upstream, and the SDK's own path. Messages do not contain the key: logs are read
# by more people than settings.
destination() {
  read_dsn "$1" || refuse "$2" "is not a DSN" "$fix"
  dsn=$scheme://$key@$host$port$prefix/$project
  case $seen in *" $dsn "*) return ;; esac
  seen="$seen$dsn " INGEST=$((INGEST + 1))

  [ "$INGEST" -gt 1 ] || echo '"" 1;' >>"$maps/arguments"
  # A pattern, because a map compares plain strings without regard to case; of two equal ones, the first counts.
  if tunnel_route_arguments; then
    echo "\"~^$arguments\$\" $INGEST;" >>"$maps/arguments"
  elif [ "$INGEST" -gt 1 ]; then
    refuse "$2" "names the host $host, which no SDK can ask for by arguments" \
      "list DSNs of sentry.io only; for another host, make it SENTRY_DSN"
  fi
  echo "$INGEST $scheme;" >>"$maps/scheme"
  echo "$INGEST $host$port;" >>"$maps/host"
  echo "$INGEST $prefix/api/$project;" >>"$maps/project"
  echo "$INGEST $key;" >>"$maps/key"

  [ "$scheme" = https ] && default_port=:443 || default_port=:80
  INGEST_ADDRESS=$host${port:-$default_port} SDK_TUNNEL_PATH=$(sdk_tunnel_path "$dsn")
  render ingest/upstream.conf "ingest/upstream-$INGEST.conf"
  render ingest/sdk-tunnel-path.conf "ingest/sdk-tunnel-path-$INGEST.conf"
}

[ -n "$SENTRY_DSN" ] || refuse SENTRY_DSN "is empty" "$fix"
maps=$RENDERED/ingest INGEST=0 seen=' '
destination "$SENTRY_DSN" SENTRY_DSN
set -f
for entry in $(without_commas "$TUNNEL_ALLOWED_DSNS"); do destination "$entry" TUNNEL_ALLOWED_DSNS; done
set +f

[ -r "$INGEST_CA_FILE" ] || refuse INGEST_CA_FILE "'$INGEST_CA_FILE' can't be read by uid $(id -u)" "mount a PEM file that this user may read"
openssl x509 -noout -in "$INGEST_CA_FILE" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$INGEST_CA_FILE' holds no certificate" "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
