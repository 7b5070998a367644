#!/bin/sh
# Behind a load balancer, TRUSTED_PROXIES lists the addresses trusted to report the client IP: in X-Forwarded-For, or with
# PROXY_PROTOCOL=on in the PROXY protocol, which every connection must then use.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/lists.sh"
. "${0%/*}/render.sh"

PROXY_PROTOCOL=${PROXY_PROTOCOL:-off}
check_switch PROXY_PROTOCOL "$PROXY_PROTOCOL"
[ "$PROXY_PROTOCOL" = on ] && header=proxy_protocol || header=X-Forwarded-For

list_fix="list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32"
is_list "${TRUSTED_PROXIES:-}" ||
  refuse TRUSTED_PROXIES "'$TRUSTED_PROXIES' has a control character" "$list_fix, separated by spaces"
set -f
REAL_IP_FROM='' REAL_IP_HEADER='' TRUSTED_NETWORKS='' TRUSTED_BY_DEFAULT=0
split "${TRUSTED_PROXIES:-}"
for network in $entries; do
  is_network "$network" || refuse TRUSTED_PROXIES "'$network' is neither an address nor a network" "$list_fix"
  case $REAL_IP_FROM in *" $network;"*) continue ;; esac
  REAL_IP_FROM="$REAL_IP_FROM set_real_ip_from $network;"
  # All addresses are the default of Nginx's `geo`.
  case $network in
    */0) TRUSTED_BY_DEFAULT=1 ;;
    *) TRUSTED_NETWORKS="$TRUSTED_NETWORKS $network 1;" ;;
  esac
done
[ "$header" != proxy_protocol ] || [ -n "$REAL_IP_FROM" ] ||
  refuse TRUSTED_PROXIES "is empty, but PROXY_PROTOCOL is on" "list the load balancer's addresses, such as 10.0.0.0/8"
[ -z "$REAL_IP_FROM" ] || REAL_IP_HEADER="real_ip_header $header; real_ip_recursive on;"

# shellcheck disable=SC2016 # a variable of Nginx
[ -n "$REAL_IP_FROM" ] && REQUEST_ID_TRUST='$is_trusted_proxy' || REQUEST_ID_TRUST=''
export REAL_IP_FROM REAL_IP_HEADER TRUSTED_NETWORKS TRUSTED_BY_DEFAULT REQUEST_ID_TRUST
render trusted-proxies.conf
