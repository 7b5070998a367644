#!/bin/sh
# The tunnel's destination comes from configuration, never from the request: each DSN becomes a fixed upstream, and the
# arguments that a browser may send only select one of them (templates/ingest.conf).
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/dsn.sh"
. "${0%/*}/render.sh"

fix="copy it from the project's Client Keys page: https://<key>@<host>/<project>"

# destination NUMBER DSN SETTING: adds a line to each map, and the upstream. Messages do not contain the key: logs are read
# by more people than settings.
destination() {
  read_dsn "$2" || refuse "$3" "is not a DSN" "$fix"
  port=${number:+:$number}

  # What the SDK adds to a `tunnelRoute`, for Sentry's own hosts only: ?o=<org>&p=<project>[&r=<region>].
  arguments=$(printf '%s\n' "$host" |
    sed -En 's/^o([0-9]+)\.ingest(\.([a-z]{2}))?\.sentry\.io$/o=\1\&p='"$project"'\&r=\3/p' | sed 's/&r=$//')
  [ "$1" = 1 ] && echo '"" 1;' >>"$maps/arguments"
  if [ -n "$arguments" ]; then
    # A pattern, because a map compares plain strings without regard to case.
    grep -qF "^$arguments\$" "$maps/arguments" || echo "\"~^$arguments\$\" $1;" >>"$maps/arguments"
  elif [ "$1" != 1 ]; then
    refuse "$3" "names the host $host, which no SDK can ask for by arguments" \
      "list DSNs of sentry.io only; for another host, make it SENTRY_DSN"
  fi

  [ "$scheme" = https ] && default_port=443 || default_port=80
  export INGEST="$1" INGEST_ADDRESS="$host:${number:-$default_port}"
  render ingest-upstream.conf
  echo "$1 $scheme://ingest_$1$prefix/api/$project/envelope/;" >>"$maps/envelope"
  echo "$1 $scheme://ingest_$1$prefix/api/$project/security/?sentry_key=$key;" >>"$maps/security"
  # With the ingest's own name, for the spool, which sends there itself.
  echo "$1 $scheme://$host$port$prefix/api/$project/envelope/;" >>"$maps/envelope_address"
  echo "$1 $scheme://$host$port$prefix/api/$project/security/?sentry_key=$key;" >>"$maps/security_address"
  echo "$1 $host$port;" >>"$maps/host"
  echo "$1 $host;" >>"$maps/tls_name"
}

[ -n "${SENTRY_DSN:=}" ] || refuse SENTRY_DSN "is empty" "$fix"
is_list "${TUNNEL_ALLOWED_DSNS:=}" || refuse TUNNEL_ALLOWED_DSNS "has a control character" "separate DSNs by spaces"

maps=$RENDERED/ingest
mkdir "$maps"
count=1
destination 1 "$SENTRY_DSN" SENTRY_DSN
set -f
for dsn in $(printf '%s' "$TUNNEL_ALLOWED_DSNS" | tr ',' ' '); do
  count=$((count + 1))
  destination "$count" "$dsn" TUNNEL_ALLOWED_DSNS
done

# For njs/metrics.js.
tr -d ';' <"$maps/host" >"$RENDERED/ingest-hosts"

export INGEST_CA_FILE="${INGEST_CA_FILE:-/etc/ssl/certs/ca-certificates.crt}"
check_file INGEST_CA_FILE "$INGEST_CA_FILE"
[ -r "$INGEST_CA_FILE" ] || refuse INGEST_CA_FILE "'$INGEST_CA_FILE' can't be read by uid $(id -u)" "mount a PEM file that this user may read"
openssl x509 -noout -in "$INGEST_CA_FILE" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$INGEST_CA_FILE' holds no certificate" "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
# only FILE VARIABLE: the value that all lines of a map have, else the map's variable.
only() {
  values=$(cut -d ' ' -f 2 "$maps/$1" | tr -d ';' | sort -u)
  case $values in *[[:space:]]*) printf '%s\n' "$2" ;; *) printf '%s\n' "$values" ;; esac
}
# shellcheck disable=SC2016
INGEST_HOST=$(only host '$ingest_host') INGEST_TLS_NAME=$(only tls_name '$ingest_tls_name')
# shellcheck disable=SC2016
INGEST_ENVELOPE=$(only envelope '$ingest_envelope')
export INGEST_HOST INGEST_TLS_NAME INGEST_ENVELOPE
render ingest-tls.conf
render ingest-envelope.conf
