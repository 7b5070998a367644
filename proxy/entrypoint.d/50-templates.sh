#!/bin/sh
# Fills the settings into the templates. Only the named variables: Nginx's own begin with $ as well.
set -eu

[ "$HTTPS_PORT" = 443 ] && REDIRECT_PORT='' || REDIRECT_PORT=:$HTTPS_PORT
# shellcheck disable=SC2153 # set by entrypoint.sh
case $SERVER_NAME in
  localhost | 127.0.0.1) SERVED_NAMES="localhost 127.0.0.1 [::1]" ;;
  *) SERVED_NAMES="localhost 127.0.0.1 [::1] $SERVER_NAME" ;;
esac
# With a certificate of one's own, for a year; with the development certificate, never.
max_age=${HSTS_MAX_AGE:-$([ -z "${TLS_CERT_FILE:-}" ] && echo 0 || echo 31536000)}
[ "$max_age" = 0 ] && HSTS='' || HSTS=max-age=$max_age
[ -s "$RENDERED/brotli.conf" ] && BROTLI_BEST='brotli_comp_level 11;' || BROTLI_BEST=''
[ "${PROXY_PROTOCOL:-off}" = on ] && PROXY_PROTOCOL_PARAMETER=' proxy_protocol' || PROXY_PROTOCOL_PARAMETER=''
# HTTP/3 where this Nginx was built with it; the PROXY protocol does not speak UDP.
HTTP3_LISTEN_DEFAULT='' HTTP3_LISTEN='' ALT_SVC=''
if [ "$HTTP3" = on ] && [ -z "$PROXY_PROTOCOL_PARAMETER" ] && nginx -V 2>&1 | grep -q http_v3_module; then
  HTTP3_LISTEN_DEFAULT='listen 8443 quic default_server reuseport;' HTTP3_LISTEN='listen 8443 quic;'
  ALT_SVC=$(printf 'h3=":%s"; ma=86400' "$HTTPS_PORT")
fi
export REDIRECT_PORT SERVED_NAMES HSTS BROTLI_BEST PROXY_PROTOCOL_PARAMETER HTTP3_LISTEN HTTP3_LISTEN_DEFAULT ALT_SVC

# shellcheck disable=SC2016 # envsubst wants the names, not the values
variables='$TUNNEL_PATH $TUNNEL_CLIENT_IP $TUNNEL_RATE_PER_CLIENT $TUNNEL_RATE_TOTAL $SERVED_NAMES $WEB_UPSTREAM $REDIRECT_PORT $ASSET_RETENTION
  $CONTENT_SECURITY_POLICY $HSTS $BROTLI_BEST $PROXY_PROTOCOL_PARAMETER $HTTP3_LISTEN $HTTP3_LISTEN_DEFAULT $ALT_SVC
  $BASE_PATH $HEALTH_PATH $MAX_BODY_SIZE $RESPONSE_TIMEOUT'

for template in /etc/nginx/templates/*.conf; do
  envsubst "$variables" <"$template" >"$RENDERED/${template##*/}"
done

# The tunnel below the app's base path as well: there the SDK puts the `tunnelRoute` of an app with one.
: >"$RENDERED/route-tunnel-below-base.conf"
if [ -n "$BASE_PATH" ]; then
  TUNNEL_PATH=$BASE_PATH$TUNNEL_PATH envsubst "$variables" </etc/nginx/templates/route-tunnel.conf >"$RENDERED/route-tunnel-below-base.conf"
fi
