#!/bin/sh
# Nginx asks the container's own name servers again whenever an address expires, so that a moved ingest or a new web
# replica is found without a restart. Nginx does not read resolv.conf itself.
set -eu
. "$(dirname "$0")/refuse.sh"

servers=$(awk '$1 == "nameserver" { print ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf | tr '\n' ' ')
[ -n "$servers" ] || refuse /etc/resolv.conf "names no server" "give the container a DNS server"

# valid: Docker's DNS answers with a TTL of ten minutes, far longer than a replaced container should be missed.
echo "resolver $servers valid=5s; resolver_timeout 2s;" >"$RENDERED/resolver.conf"
