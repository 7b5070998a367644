#!/bin/sh
# Renders every template that no step before has rendered or left out.
set -eu
. "${0%/*}/lists.sh"
. "${0%/*}/render.sh"

[ "$HTTPS_PORT" = 443 ] && REDIRECT_PORT='' || REDIRECT_PORT=:$HTTPS_PORT
SERVED_NAMES='localhost 127.0.0.1 [::1]'
# shellcheck disable=SC2153 # set by entrypoint.sh
split "$(printf %s "$SERVER_NAME" | tr '[:upper:]' '[:lower:]')"
for name in $entries; do
  case " $SERVED_NAMES " in *" $name "*) ;; *) SERVED_NAMES="$SERVED_NAMES $name" ;; esac
done
# A year with a certificate of yours or of a CA; never with the development certificate.
[ "$ACME${TLS_CERT_FILE:-}" = off ] && standard=0 || standard=31536000
max_age=${HSTS_MAX_AGE:-$standard}
[ "$max_age" = 0 ] && HSTS='' || HSTS=max-age=$max_age
[ "${PROXY_PROTOCOL:-off}" = on ] && PROXY_PROTOCOL_PARAMETER=' proxy_protocol' || PROXY_PROTOCOL_PARAMETER=''
# HTTP/3 if this Nginx was built with it; the PROXY protocol does not carry UDP.
HTTP3_LISTEN_DEFAULT='' HTTP3_LISTEN='' ALT_SVC=''
if [ "$HTTP3" = on ] && [ -z "$PROXY_PROTOCOL_PARAMETER" ] && nginx -V 2>&1 | grep -q http_v3_module; then
  HTTP3_LISTEN_DEFAULT='listen 8443 quic default_server reuseport;' HTTP3_LISTEN='listen 8443 quic;'
  ALT_SVC=$(printf 'h3=":%s"; ma=86400' "$HTTPS_PORT")
fi
[ -z "${WEB_FALLBACK_UPSTREAM:-}" ] && WEB_FALLBACK='' || WEB_FALLBACK="server $WEB_FALLBACK_UPSTREAM resolve backup max_fails=0;"
# Pages have an upstream of their own if they are limited (templates/concurrent-pages.conf).
# shellcheck disable=SC2016 # Nginx's variable
[ "$MAX_CONCURRENT_PAGES_PER_REPLICA" = off ] && PAGE_UPSTREAM=web || PAGE_UPSTREAM='$page_upstream'
export PAGE_UPSTREAM
# shellcheck disable=SC2016 # variables of Nginx
case $TUNNEL_CLIENT_IP in
  forward) TUNNEL_CLIENT='$remote_addr' ;;
  truncate) TUNNEL_CLIENT='$truncated_client' ;;
  *) TUNNEL_CLIENT='' ;;
esac
export TUNNEL_CLIENT REDIRECT_PORT SERVED_NAMES HSTS PROXY_PROTOCOL_PARAMETER HTTP3_LISTEN HTTP3_LISTEN_DEFAULT ALT_SVC WEB_FALLBACK

cd /etc/nginx/templates
set --
for template in *.conf routes/*.conf; do
  [ -e "$RENDERED/$template" ] || set -- "$@" "$template"
done
render "$@"

# The tunnel below the app's base path as well: there the SDK puts the `tunnelRoute` of an app with one.
[ -z "$BASE_PATH" ] || (export TUNNEL_PATH="$BASE_PATH$TUNNEL_PATH" && render routes/tunnel.conf)
