#!/bin/sh
# Behind a load balancer, TRUSTED_PROXIES names the addresses whose word on the visitor's address is taken: from
# X-Forwarded-For, or with PROXY_PROTOCOL=on from the PROXY protocol, which every connection must then speak.
set -eu
. "$(dirname "$0")/refuse.sh"

case ${PROXY_PROTOCOL:=off} in
  on) header=proxy_protocol ;;
  off | '') header=X-Forwarded-For ;;
  *) refuse PROXY_PROTOCOL "'$PROXY_PROTOCOL' is neither on nor off" "use on or off" ;;
esac

: >"$RENDERED/real-ip.conf"
for network in $(printf '%s' "${TRUSTED_PROXIES:-}" | tr ',' ' '); do
  printf '%s\n' "$network" | grep -qE '^([0-9]{1,3}(\.[0-9]{1,3}){3}(/([12]?[0-9]|3[0-2]))?|[0-9a-fA-F:]*:[0-9a-fA-F:.]*(/[0-9]{1,3})?)$' ||
    refuse TRUSTED_PROXIES "'$network' is neither an address nor a network" "list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32"
  echo "set_real_ip_from $network;" >>"$RENDERED/real-ip.conf"
done
[ "$header" != proxy_protocol ] || [ -s "$RENDERED/real-ip.conf" ] ||
  refuse TRUSTED_PROXIES "is empty, but PROXY_PROTOCOL is on" "list the load balancer's addresses, such as 10.0.0.0/8"
[ ! -s "$RENDERED/real-ip.conf" ] || echo "real_ip_header $header; real_ip_recursive on;" >>"$RENDERED/real-ip.conf"
