# shellcheck shell=sh
# Which set of web's replicas a request goes to. WEB_SETS has the addresses of sets that may be there. `make up` writes
# NAME.current if all requests go to this set. It and watch-sets.sh write NAME/DEPLOYMENT if this deployment's do.
# Without any, `web` is asked. By name: Nginx logs an error for each upstream whose name is not there.
for address in $(without_commas "$WEB_SETS"); do
  is_host_and_port "$address" ||
    refuse WEB_SETS "'$address' is not name:port" "use the addresses of releases, such as web-previous:3000"
  mkdir -p "/var/lib/culvert/sets/${address%:*}"
  echo "if (-f /var/lib/culvert/sets/${address%:*}.current) { set \$web $address; }"
  echo "if (-f /var/lib/culvert/sets/${address%:*}/\$asked_deployment) { set \$web $address; }" >&3
done >"$RENDERED/current-set.conf" 3>"$RENDERED/asked-set.conf"
