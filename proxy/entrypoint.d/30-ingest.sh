#!/bin/sh
# The tunnel's destination comes from configuration, never from the request: the DSN becomes a fixed upstream, and the
# arguments that a browser may send merely select it.
# DSN: https://develop.sentry.dev/sdk/foundations/client/dsn/ ({scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project})
set -eu
. /culvert/entrypoint.d/refuse.sh

: "${SENTRY_DSN:=}"
fix="copy it from the project's Client Keys page: https://<key>@<host>/<project>"
case $SENTRY_DSN in
  '') refuse SENTRY_DSN "is empty" "$fix" ;;
  *[[:space:]]*) refuse SENTRY_DSN "has white space in it" "$fix" ;;
esac

part() { printf '%s\n' "$SENTRY_DSN" | sed -En "s#^(https?)://([A-Za-z0-9_]+)(:[A-Za-z0-9_]*)?@([A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?((/[A-Za-z0-9._-]+)*)/([0-9]+)\$#\\$1#p"; }

# The key stays out of the message: logs are read by more people than settings are.
scheme=$(part 1)
[ -n "$scheme" ] || refuse SENTRY_DSN "is not a DSN" "$fix"
host=$(part 4)
port=$(part 5)
prefix=$(part 6)
project=$(part 8)

[ "$scheme" = https ] && default_port=443 || default_port=80
address=$host:$([ -n "$port" ] && echo "${port#:}" || echo "$default_port")

# The arguments that an app built with `tunnelRoute` adds, for Sentry's own hosts only.
arguments=$(printf '%s\n' "$host" | sed -En 's/^o([0-9]+)\.ingest(\.([a-z]{2}))?\.sentry\.io$/o=\1\&p='"$project"'\&r=\3/p' | sed 's/&r=$//')

cat >"$RENDERED/ingest.conf" <<CONF
upstream ingest_1 {
  zone ingest_1 64k;
  server $address resolve fail_timeout=5s;
  keepalive 64;
}

map \$args \$ingest {
  ""             1;
  ${arguments:+"$arguments" 1;}
  default        "";
}

map \$ingest \$ingest_envelope {
  1 $scheme://ingest_1$prefix/api/$project/envelope/;
}

map \$ingest \$ingest_host {
  1 $host$port;
}

map \$ingest \$ingest_tls_name {
  1 $host;
}
CONF

ca=${INGEST_CA_FILE:-/etc/ssl/certs/ca-certificates.crt}
[ -r "$ca" ] || refuse INGEST_CA_FILE "'$ca' can't be read by uid $(id -u)" "mount a PEM file that this user may read"
openssl x509 -noout -in "$ca" 2>/dev/null ||
  refuse INGEST_CA_FILE "'$ca' holds no certificate" "give a PEM file that begins with -----BEGIN CERTIFICATE-----"
echo "proxy_ssl_trusted_certificate $ca;" >"$RENDERED/ingest-ca.conf"
