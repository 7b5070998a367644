# shellcheck shell=sh disable=SC2034,SC2153
# What templates derive from settings for the public listeners.

names_fix="use the names people type, separated by spaces, without scheme, port or wildcard, such as app.example.com"
served=' ' SERVED_HOSTS='' names=$(without_commas "$SERVER_NAME" | tr '[:upper:]' '[:lower:]')
case $names in *[!\ ]*) ;; *) refuse SERVER_NAME "'$SERVER_NAME' has no name" "$names_fix" ;; esac
for name in $names; do
  is_name "$name" || is_ipv4 "$name" || refuse SERVER_NAME "'$name' is not a host name" "$names_fix"
done
# After a backslash (Nginx reads two as one), a name such as "default" is no parameter of the map.
for name in localhost 127.0.0.1 '[::1]' $names; do
  case $served in *" $name "*) ;; *) served="$served$name " SERVED_HOSTS="$SERVED_HOSTS \\\\$name $name;" ;; esac
done
[ "$HTTPS_PORT" = 443 ] && REDIRECT_PORT='' || REDIRECT_PORT=:$HTTPS_PORT
# Values of $is_tls_of_front with HSTS: with the development certificate, 1 only: a load balancer has a certificate.
[ "$ACME$TLS_CERT_FILE" = off ] && APP_HSTS_ON=1 || APP_HSTS_ON='1?'
[ -n "$HSTS_MAX_AGE" ] && PROXY_HSTS_ON='1?' || PROXY_HSTS_ON=$APP_HSTS_ON
HSTS_SECONDS=${HSTS_MAX_AGE:-31536000}
[ "$HSTS_MAX_AGE" != 0 ] || APP_HSTS_ON=none PROXY_HSTS_ON=none
[ "$PROXY_PROTOCOL" = on ] && PROXY_PROTOCOL_PARAMETER=' proxy_protocol' || PROXY_PROTOCOL_PARAMETER=''
IPV6_LISTEN=''
[ ! -e /proc/net/if_inet6 ] ||
  IPV6_LISTEN="listen [::]:8443 ssl$PROXY_PROTOCOL_PARAMETER; listen [::]:8080$PROXY_PROTOCOL_PARAMETER;"
# HTTP/3 if this Nginx was built with it; the PROXY protocol does not carry UDP.
HTTP3_LISTEN='' ALT_SVC=''
if [ "$HTTP3$PROXY_PROTOCOL" = onoff ] && nginx -V 2>&1 | grep -q http_v3_module; then
  HTTP3_LISTEN="listen 8443 quic reuseport; ${IPV6_LISTEN:+listen [::]:8443 quic reuseport;}"
  ALT_SVC="h3=\":$HTTPS_PORT\"; ma=86400"
fi
# 0 if no load balancer is in TRUSTED_PROXIES, and no cache names itself: RFC 9110 (Via), RFC 8586 (CDN-Loop).
# shellcheck disable=SC2016 # variables of Nginx
[ "$SHARED_CACHE" = off ] && SHARED_CACHE_SIGNS=0 || SHARED_CACHE_SIGNS='$is_trusted_proxy$http_via$http_cdn_loop'
# For maps in public-address.conf and web-upstream.conf; empty, it matches no request. A CA asks over plain HTTP.
ACME_OVER_HTTP=''
[ "$ACME" = off ] || ACME_OVER_HTTP='"~^http[|][0-9]*[|][^|]+[|]/\.well-known/acme-challenge/[A-Za-z0-9_-]+\z"  "";'
WEBSOCKET_HANDSHAKE=${WEBSOCKET_PATH:+"~^$WEBSOCKET_PATH(/.*)? HTTP/1\\.1 (?i:websocket)\\z"}
# shellcheck disable=SC2016 # variables of Nginx
case $TUNNEL_CLIENT_IP in
  forward) TUNNEL_CLIENT='$remote_addr' ;;
  truncate) TUNNEL_CLIENT='$truncated_client' ;;
  *) TUNNEL_CLIENT='' ;;
esac

# Nginx' syntax has no zone (fe80::1%eth0), and without one a link-local address leads nowhere.
NAME_SERVERS=''
for server in $(tr -d '\r' </etc/resolv.conf | awk '$1 == "nameserver" { print $2 }'); do
  if is_ipv4 "$server"; then
    NAME_SERVERS="$NAME_SERVERS$server "
  elif is_ipv6 "$server" && [ "${server#fe80:}" = "$server" ]; then
    NAME_SERVERS="${NAME_SERVERS}[$server] "
  else
    echo "culvert proxy: /etc/resolv.conf: Nginx cannot use the name server $(one_line "$server")" >&2
  fi
done
[ -n "$NAME_SERVERS" ] || refuse /etc/resolv.conf "names no server that Nginx can use" "give the container a DNS server"

REAL_IP_FROM='' REAL_IP_HEADER='' TRUSTED_NETWORKS='' TRUSTED_BY_DEFAULT=0 KEEPALIVE_TIMEOUT=65s
for network in $(without_commas "$TRUSTED_PROXIES"); do
  is_network "$network" ||
    refuse TRUSTED_PROXIES "'$network' is neither an address nor a network" \
      "list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32"
  case $REAL_IP_FROM in *" $network;"*) continue ;; esac
  REAL_IP_FROM="$REAL_IP_FROM set_real_ip_from $network;"
  # All addresses are the default of Nginx's `geo`.
  case $network in */0) TRUSTED_BY_DEFAULT=1 ;; *) TRUSTED_NETWORKS="$TRUSTED_NETWORKS $network 1;" ;; esac
  # fc00::/7 is the widest network that is private.
  case $network in
    *:*/[0-6] | *.*/[0-7])
      echo "culvert proxy: TRUSTED_PROXIES contains $network: any client in it can forge its IP, host and scheme:" \
        "list the load balancer's addresses only" >&2 ;;
  esac
done
if [ -n "$REAL_IP_FROM" ]; then
  [ "$PROXY_PROTOCOL" = on ] && REAL_IP_HEADER=proxy_protocol || REAL_IP_HEADER=X-Forwarded-For
  REAL_IP_HEADER="real_ip_header $REAL_IP_HEADER; real_ip_recursive on;"
  KEEPALIVE_TIMEOUT=650s
elif [ "$PROXY_PROTOCOL" = on ]; then
  refuse TRUSTED_PROXIES "is empty, but PROXY_PROTOCOL is on" "list the load balancer's addresses, such as 10.0.0.0/8"
fi

for name in BASE_PATH WEBSOCKET_PATH; do
  eval "value=\$$name"
  [ "$WEB" = on ] || [ -z "$value" ] || refuse "$name" "is set, but WEB=off serves no app" "unset $name, or set WEB=on"
  case $value/ in
    "$TUNNEL_PATH"/*) refuse "$name" "'$value' belongs to the tunnel" "set another TUNNEL_PATH" ;;
  esac
done
