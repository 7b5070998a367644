# shellcheck shell=sh disable=SC2034
# With INTERNAL_NETWORK, the name of a Docker network of this container, ports 8081 and 8083 answer the addresses of
# that network only, and this container itself. Without it they answer everyone: in Kubernetes, a NetworkPolicy decides.

# subnet_of ADDRESS: prints the IPv4 subnet of this container's interface that contains ADDRESS, as CIDR, or nothing.
subnet_of() (
  IFS=.
  # shellcheck disable=SC2086 # four octets
  set -- $1
  unset IFS
  # The first octet is the lowest, as in /proc/net/route on x86 and ARM.
  address=$(($1 | $2 << 8 | $3 << 16 | $4 << 24))
  while read -r _ subnet gateway _ _ _ _ mask _; do
    case $gateway.$mask in 00000000.00000000) continue ;; 00000000.*) ;; *) continue ;; esac
    subnet=$((0x$subnet)) mask=$((0x$mask)) length=0
    [ $((address & mask)) -eq "$subnet" ] || continue
    while [ "$mask" -gt 0 ]; do
      length=$((length + (mask & 1))) mask=$((mask >> 1))
    done
    echo "$((subnet & 255)).$((subnet >> 8 & 255)).$((subnet >> 16 & 255)).$((subnet >> 24))/$length"
    return
  done </proc/net/route
)

OTHERS_ARE_INTERNAL=1 INTERNAL_SUBNET=''
if [ -n "$INTERNAL_NETWORK" ]; then
  fix="use the Docker network that proxy, web and spool share, such as culvert_inside"
  is_name "$INTERNAL_NETWORK" || refuse INTERNAL_NETWORK "'$INTERNAL_NETWORK' is not the name of a network" "$fix"
  # Docker's DNS knows a container by its host name, and with the name of a network after it, in that network alone.
  for _ in 1 2 3 4 5; do
    address=$(getent ahostsv4 "$(uname -n).$INTERNAL_NETWORK") && break
    sleep 0.5
  done
  subnet=$([ -z "$address" ] || subnet_of "${address%% *}")
  [ -n "$subnet" ] || refuse INTERNAL_NETWORK \
    "'$INTERNAL_NETWORK' is no network of this container, or DNS does not answer" "$fix"
  OTHERS_ARE_INTERNAL=0 INTERNAL_SUBNET="$subnet 1;"
fi
