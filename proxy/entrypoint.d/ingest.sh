# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# The tunnel's destination comes from configuration: each DSN becomes a fixed upstream. A browser's arguments, the path
# to which it posts, or with several DSNs the one in the envelope's header, only select one of them.
fix="copy it from the project's Client Keys page: https://<key>@<host>/<project>"

# read_dsn DSN: sets scheme, key, host, port (empty, or with a colon), prefix and project; fails if it is no DSN:
# {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}
read_dsn() {
  [ "${#1}" -le 500 ] || return 1
  is "$1" 'https?://[A-Za-z0-9_]+(:[A-Za-z0-9_]*)?@[^@/]+(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/[0-9]{1,20}' || return 1
  scheme=${1%%://*} key=${1#*://} host=${1#*@}
  key=${key%%[:@]*} path=/${host#*/} host=${host%%/*} port=''
  case $host in \[*\]) ;; *:*) port=:${host##*:} host=${host%:*} ;; esac
  project=${path##*/} prefix=${path%/*}
  is_host "$host" && { [ -z "$port" ] || is_port "${port#:}"; }
}

# tunnel_route_arguments: sets what the SDK adds to a `tunnelRoute`: ?o=<org>&p=<project>[&r=<region>]; fails if the
# DSN's host is not Sentry's own.
tunnel_route_arguments() {
  is "$host" 'o[0-9]+\.ingest\.([a-z]{2}\.)?sentry\.io' || return 1
  organization=${host#o} region=${host#*.ingest.}
  region=${region%sentry.io}
  arguments="o=${organization%%.*}&p=$project${region:+&r=${region%.}}"
}

# header_pattern: prints a pattern of envelopes whose first line has a DSN of this project, with any key.
header_pattern() {
  case ${port:-$default_port} in "$default_port") any_port="($default_port)?" ;; *) any_port=$port ;; esac
  echo "^.*?\\\"dsn\\\": ?\\\"https?://[^/@]+@\\Q$host\\E$any_port\\Q$prefix/$project\\E\\\""
}

# destination DSN SETTING: adds a line to each map, an upstream, and the SDK's own path. Messages have no key.
destination() {
  read_dsn "$1" || refuse "$2" "is not a DSN" "$fix"
  dsn=$scheme://$key@$host$port$prefix/$project
  case $seen in *" $dsn "*) return ;; esac
  seen="$seen$dsn " INGEST=$((INGEST + 1))

  [ "$scheme" = https ] && default_port=:443 || default_port=:80
  SDK_TUNNEL_PATH=$(sdk_tunnel_path "$dsn") INGEST_ADDRESS=$host${port:-$default_port}
  [ "$INGEST" -gt 1 ] || echo '"" 1;' >>"$maps/arguments"
  # A pattern, because a map compares plain strings without regard to case; of two equal ones, the first counts.
  ! tunnel_route_arguments || echo "\"~^$arguments\\z\" $INGEST;" >>"$maps/arguments"
  echo "\"~$(header_pattern)\" $INGEST;" >>"$maps/header"
  echo "$INGEST $scheme;" >>"$maps/scheme"
  echo "$INGEST $host$port;" >>"$maps/host"
  api=$prefix/api/$project
  echo "\"envelope $INGEST\" $api/envelope/; \"csp_report $INGEST\" $api/security/?sentry_key=$key;" >>"$maps/path"

  render ingest/upstream.conf "ingest/upstream-$INGEST.conf"
  render ingest/sdk-tunnel-path.conf "ingest/sdk-tunnel-path-$INGEST.conf"
}

[ -n "$SENTRY_DSN" ] || refuse SENTRY_DSN "is empty" "$fix"
maps=$RENDERED/ingest INGEST=0 seen=' '
destination "$SENTRY_DSN" SENTRY_DSN
for entry in $(without_commas "$TUNNEL_ALLOWED_DSNS"); do destination "$entry" TUNNEL_ALLOWED_DSNS; done
# Reading headers makes an envelope 5 % slower: not with a single DSN.
SELECTED_INGEST='$ingest' ENVELOPE_READER=off
[ "$INGEST" = 1 ] || SELECTED_INGEST='$ingest_of_envelope' ENVELOPE_READER=/.culvert/read

[ -r "$INGEST_CA_FILE" ] || refuse INGEST_CA_FILE "'$INGEST_CA_FILE' can't be read by uid $(id -u)" \
  "mount a PEM file that this user may read"
openssl x509 -noout -in "$INGEST_CA_FILE" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$INGEST_CA_FILE' holds no certificate" \
    "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
