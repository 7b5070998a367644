# shellcheck shell=sh disable=SC2034
# Behind a load balancer, TRUSTED_PROXIES lists the addresses trusted to report the client IP: in X-Forwarded-For, or with
# PROXY_PROTOCOL=on in the PROXY protocol, which every connection must then use.

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
