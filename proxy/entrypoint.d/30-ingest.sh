#!/bin/sh
# The tunnel's destination comes from configuration, never from the request: each DSN becomes a fixed upstream, and the
# arguments that a browser may send only select one of them (templates/ingest.conf).
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/dsn.sh"
. "${0%/*}/lists.sh"
. "${0%/*}/render.sh"

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

# destination NUMBER DSN SETTING: adds a line to each map, and the upstream. Messages do not contain the key: logs are read
# by more people than settings.
destination() {
  read_dsn "$2" || refuse "$3" "is not a DSN" "$fix"
  port=${number:+:$number}

  [ "$1" = 1 ] && echo '"" 1;' >>"$maps/arguments"
  if tunnel_route_arguments; then
    # A pattern, because a map compares plain strings without regard to case.
    case $seen in
      *" $arguments "*) ;;
      *) echo "\"~^$arguments\$\" $1;" >>"$maps/arguments" ;;
    esac
    seen="$seen$arguments "
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
  # For njs/metrics.js.
  echo "$1 $host$port" >>"$RENDERED/ingest-hosts"
  envelopes="$envelopes $scheme://ingest_$1$prefix/api/$project/envelope/" hosts="$hosts $host$port" tls_names="$tls_names $host"
}

[ -n "${SENTRY_DSN:=}" ] || refuse SENTRY_DSN "is empty" "$fix"
is_list "${TUNNEL_ALLOWED_DSNS:=}" || refuse TUNNEL_ALLOWED_DSNS "has a control character" "separate DSNs by spaces"

maps=$RENDERED/ingest
mkdir "$maps"
count=1 seen=' ' envelopes='' hosts='' tls_names=''
destination 1 "$SENTRY_DSN" SENTRY_DSN
set -f
split "$TUNNEL_ALLOWED_DSNS"
for dsn in $entries; do
  count=$((count + 1))
  destination "$count" "$dsn" TUNNEL_ALLOWED_DSNS
done

export INGEST_CA_FILE="${INGEST_CA_FILE:-/etc/ssl/certs/ca-certificates.crt}"
check_file INGEST_CA_FILE "$INGEST_CA_FILE"
[ -r "$INGEST_CA_FILE" ] || refuse INGEST_CA_FILE "'$INGEST_CA_FILE' can't be read by uid $(id -u)" "mount a PEM file that this user may read"
openssl x509 -noout -in "$INGEST_CA_FILE" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$INGEST_CA_FILE' holds no certificate" "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
# only VARIABLE VALUE...: sets `value` to the value of all destinations, if it is the same, else to the map's variable.
only() {
  variable=$1
  shift
  for value; do
    [ "$value" = "$1" ] || { value=$variable && return; }
  done
}
# shellcheck disable=SC2016,SC2086 # variables of Nginx, and lists
{
  only '$ingest_host' $hosts && INGEST_HOST=$value
  only '$ingest_tls_name' $tls_names && INGEST_TLS_NAME=$value
  only '$ingest_envelope' $envelopes && INGEST_ENVELOPE=$value
}
export INGEST_HOST INGEST_TLS_NAME INGEST_ENVELOPE
render ingest-tls.conf ingest-envelope.conf
