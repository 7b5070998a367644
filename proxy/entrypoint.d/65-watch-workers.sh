#!/bin/sh
# Nginx counts the open requests of a killed worker forever, and there would be less capacity with every death. A reload begins to count
# anew (upstreams by themselves, the zones of limits if they have another size); open requests go on for worker_shutdown_timeout.
set -eu

deaths() { curl -fsS --max-time 5 http://127.0.0.1:8081/metrics 2>/dev/null | sed -n 's/^culvert_worker_deaths_total //p'; }

resize_zones() {
  sed -i -e 's/:8m;/:8196k;/;t' -e 's/:8196k;/:8m;/;t' -e 's/:64k;/:68k;/;t' -e 's/:68k;/:64k;/;t' -e 's/:1m;/:1028k;/;t' \
    -e 's/:1028k;/:1m;/' "$RENDERED/client-limit-zones.conf" "$RENDERED/rate-limit-zones.conf"
}

# next_generation: by which njs/workers.js tells a reload's workers from replacements of dead ones.
next_generation() {
  generation=$((${generation:-0} + 1))
  # shellcheck disable=SC2016 # Nginx's variable
  echo 'map "" $generation { default '"$generation; }" >"$RENDERED/generation.conf"
}

watch() {
  set +e
  known=0
  while sleep 5; do
    found=$(deaths)
    [ "${found:-$known}" != "$known" ] || continue
    known=$found
    echo "culvert proxy: a worker was killed: reloading, so that its open requests are no longer counted"
    resize_zones
    next_generation
    kill -HUP "$(cat /tmp/nginx.pid)"
    # Requests of the old workers take memory until worker_shutdown_timeout: no second reload before that.
    sleep 180
  done
}
next_generation
watch &
