#!/bin/sh
# Nginx does not read resolv.conf itself.
set -eu
. "${0%/*}/refuse.sh"
. "${0%/*}/render.sh"

NAME_SERVERS=$(awk '$1 == "nameserver" { printf "%s ", ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf)
[ -n "$NAME_SERVERS" ] || refuse /etc/resolv.conf "names no server" "give the container a DNS server"
export NAME_SERVERS
render resolver.conf
