#!/bin/sh
# Behind a load balancer, TRUSTED_PROXIES names the addresses whose word on the visitor's address is taken: from
# X-Forwarded-For, or with PROXY_PROTOCOL=on from the PROXY protocol, which every connection must then speak.
set -eu
. "$(dirname "$0")/checks.sh"

PROXY_PROTOCOL=${PROXY_PROTOCOL:-off}
check_switch PROXY_PROTOCOL "$PROXY_PROTOCOL"
[ "$PROXY_PROTOCOL" = on ] && header=proxy_protocol || header=X-Forwarded-For

list_fix="list them as 10.0.0.0/8 192.0.2.7 2001:db8::/32"
is_list "${TRUSTED_PROXIES:-}" ||
  refuse TRUSTED_PROXIES "'$TRUSTED_PROXIES' has a control character" "$list_fix, separated by spaces"
: >"$RENDERED/real-ip.conf"
set -f
networks=''
for network in $(printf '%s' "${TRUSTED_PROXIES:-}" | tr ',' ' '); do
  is_network "$network" || refuse TRUSTED_PROXIES "'$network' is neither an address nor a network" "$list_fix"
  echo "set_real_ip_from $network;" >>"$RENDERED/real-ip.conf"
  networks="$networks $network 1;"
done
[ "$header" != proxy_protocol ] || [ -s "$RENDERED/real-ip.conf" ] ||
  refuse TRUSTED_PROXIES "is empty, but PROXY_PROTOCOL is on" "list the load balancer's addresses, such as 10.0.0.0/8"
[ ! -s "$RENDERED/real-ip.conf" ] || echo "real_ip_header $header; real_ip_recursive on;" >>"$RENDERED/real-ip.conf"

# Whether the connection itself comes from one: its X-Request-Id is kept (snippets/request-id.conf).
# shellcheck disable=SC2016 # Nginx's variables, not the shell's
printf 'geo $realip_remote_addr $is_trusted_proxy { default 0;%s }\n' "$networks" >>"$RENDERED/real-ip.conf"
