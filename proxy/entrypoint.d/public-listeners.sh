# shellcheck shell=sh disable=SC2034,SC2153
# What templates derive from settings for the public listeners.

names_fix="use the names people type, separated by spaces, without scheme, port or wildcard, such as app.example.com"
SERVED_NAMES='localhost 127.0.0.1 [::1]' names=$(without_commas "$SERVER_NAME" | tr '[:upper:]' '[:lower:]')
case $names in *[!\ ]*) ;; *) refuse SERVER_NAME "'$SERVER_NAME' has no name" "$names_fix" ;; esac
set -f
for name in $names; do
  is_name "$name" || is_ipv4 "$name" || refuse SERVER_NAME "'$name' is not a host name" "$names_fix"
  case " $SERVED_NAMES " in *" $name "*) ;; *) SERVED_NAMES="$SERVED_NAMES $name" ;; esac
done
set +f
[ "$HTTPS_PORT" = 443 ] && REDIRECT_PORT='' || REDIRECT_PORT=:$HTTPS_PORT
# A year with a certificate of yours or of a CA; never with the development certificate.
[ "$ACME$TLS_CERT_FILE" = off ] && HSTS=${HSTS_MAX_AGE:-0} || HSTS=${HSTS_MAX_AGE:-31536000}
[ "$HSTS" = 0 ] && HSTS='' || HSTS=max-age=$HSTS
[ "$PROXY_PROTOCOL" = on ] && PROXY_PROTOCOL_PARAMETER=' proxy_protocol' || PROXY_PROTOCOL_PARAMETER=''
# HTTP/3 if this Nginx was built with it; the PROXY protocol does not carry UDP.
HTTP3_LISTEN_DEFAULT='' HTTP3_LISTEN='' ALT_SVC=''
if [ "$HTTP3$PROXY_PROTOCOL" = onoff ] && nginx -V 2>&1 | grep -q http_v3_module; then
  HTTP3_LISTEN_DEFAULT='listen 8443 quic default_server reuseport;' HTTP3_LISTEN='listen 8443 quic;'
  ALT_SVC="h3=\":$HTTPS_PORT\"; ma=86400"
fi
# For a map in web-upstream.conf; empty, it matches no request.
WEBSOCKET_HANDSHAKE=${WEBSOCKET_PATH:+"~^$WEBSOCKET_PATH(/.*)? HTTP/1\\.1 (?i:websocket)\$"}
# shellcheck disable=SC2016 # variables of Nginx
case $TUNNEL_CLIENT_IP in
  forward) TUNNEL_CLIENT='$remote_addr' ;;
  truncate) TUNNEL_CLIENT='$truncated_client' ;;
  *) TUNNEL_CLIENT='' ;;
esac

# Nginx does not read resolv.conf itself.
NAME_SERVERS=$(awk '$1 == "nameserver" { printf "%s ", ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf)
[ -n "$NAME_SERVERS" ] || refuse /etc/resolv.conf "names no server" "give the container a DNS server"

# Addresses trusted to report the client IP: in X-Forwarded-For, or in the PROXY protocol, which every connection must then use.
REAL_IP_FROM='' REAL_IP_HEADER='' TRUSTED_NETWORKS='' TRUSTED_BY_DEFAULT=0
set -f
for network in $(without_commas "$TRUSTED_PROXIES"); do
  is_network "$network" ||
    refuse TRUSTED_PROXIES "'$network' is neither an address nor a network" "list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32"
  case $REAL_IP_FROM in *" $network;"*) continue ;; esac
  REAL_IP_FROM="$REAL_IP_FROM set_real_ip_from $network;"
  # All addresses are the default of Nginx's `geo`.
  case $network in */0) TRUSTED_BY_DEFAULT=1 ;; *) TRUSTED_NETWORKS="$TRUSTED_NETWORKS $network 1;" ;; esac
done
set +f
if [ -n "$REAL_IP_FROM" ]; then
  [ "$PROXY_PROTOCOL" = on ] && REAL_IP_HEADER=proxy_protocol || REAL_IP_HEADER=X-Forwarded-For
  REAL_IP_HEADER="real_ip_header $REAL_IP_HEADER; real_ip_recursive on;"
elif [ "$PROXY_PROTOCOL" = on ]; then
  refuse TRUSTED_PROXIES "is empty, but PROXY_PROTOCOL is on" "list the load balancer's addresses, such as 10.0.0.0/8"
fi
