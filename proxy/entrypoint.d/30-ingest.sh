#!/bin/sh
# The tunnel's destination comes from configuration, never from the request: each DSN becomes a fixed upstream, and the
# arguments that a browser may send merely select one of them.
set -eu
. "$(dirname "$0")/checks.sh"
. "$(dirname "$0")/dsn.sh"

fix="copy it from the project's Client Keys page: https://<key>@<host>/<project>"

# destination NUMBER DSN SETTING: adds one line to each map, and the upstream. Messages leave the key out: logs are read
# by more people than settings are.
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

  # An ingest that hangs would hold every report for ten seconds. After a hundred failures it is asked by one report a second; the
  # others find nobody at once, which is what on-outage.conf (35-spool.sh writes it) waits for. Without a backup, Nginx never spares a lone server:
  # https://nginx.org/en/docs/http/ngx_http_upstream_module.html#max_fails
  # It forgets failures at a success in a later second, and with a fail_timeout of more than 0 only after so long without any: the
  # few reports that an ingest chokes on would turn it off for all.
  [ "$scheme" = https ] && default_port=443 || default_port=80
  cat >>"$maps/upstreams" <<CONF
upstream ingest_$1 {
    zone ingest_$1 64k;
    server $host:${number:-$default_port} resolve max_fails=100 fail_timeout=0;
    server unix:/nobody backup;
    keepalive 64;
    keepalive_timeout 4s;
}
CONF
  echo "$1 $scheme://ingest_$1$prefix/api/$project/envelope/;" >>"$maps/envelope"
  echo "$1 $scheme://ingest_$1$prefix/api/$project/security/?sentry_key=$key;" >>"$maps/security"
  # The same in plain sight, for the spool, which asks the ingest itself.
  echo "$1 $scheme://$host$port$prefix/api/$project/envelope/;" >>"$maps/envelope_address"
  echo "$1 $scheme://$host$port$prefix/api/$project/security/?sentry_key=$key;" >>"$maps/security_address"
  echo "$1 $host$port;" >>"$maps/host"
  echo "$1 $host;" >>"$maps/tls_name"
}

[ -n "${SENTRY_DSN:=}" ] || refuse SENTRY_DSN "is empty" "$fix"
is_list "${TUNNEL_ALLOWED_DSNS:=}" || refuse TUNNEL_ALLOWED_DSNS "has a control character" "separate DSNs by spaces"

maps=$(mktemp -d)
count=1
destination 1 "$SENTRY_DSN" SENTRY_DSN
set -f
for dsn in $(printf '%s' "$TUNNEL_ALLOWED_DSNS" | tr ',' ' '); do
  count=$((count + 1))
  destination "$count" "$dsn" TUNNEL_ALLOWED_DSNS
done

# shellcheck disable=SC2016 # Nginx's variables, not the shell's
{
  cat "$maps/upstreams"
  printf 'map $args $ingest {\n%s\n}\n' "$(cat "$maps/arguments")"
  for name in envelope security envelope_address security_address host tls_name; do
    printf 'map $ingest $ingest_%s {\n%s\n}\n' "$name" "$(cat "$maps/$name")"
  done
} >"$RENDERED/ingest.conf"
# For njs/metrics.js.
tr -d ';' <"$maps/host" >"$RENDERED/ingest-hosts"
rm -r "$maps"

ca=${INGEST_CA_FILE:-/etc/ssl/certs/ca-certificates.crt}
check_file INGEST_CA_FILE "$ca"
[ -r "$ca" ] || refuse INGEST_CA_FILE "'$ca' can't be read by uid $(id -u)" "mount a PEM file that this user may read"
openssl x509 -noout -in "$ca" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$ca' holds no certificate" "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
echo "proxy_ssl_trusted_certificate $ca;" >"$RENDERED/ingest-ca.conf"
