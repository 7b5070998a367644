#!/bin/sh
# What Nginx must know first: its modules and the number of its workers. njs is needed; brotli is used where the image has it (Nginx's own image does not).
set -eu

# As many workers as this container may use CPUs, not as the machine has: each takes memory of its own.
# https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max ||
  { quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || echo max) period=100000; }
workers=$(nproc)
case $quota in
  max | -1) ;;
  *) [ $(((quota + period - 1) / period)) -ge "$workers" ] || workers=$(((quota + period - 1) / period)) ;;
esac

modules=/usr/lib/nginx/modules
{
  echo "worker_processes $workers;"
  echo "load_module $modules/ngx_http_js_module.so;"
} >"$RENDERED/main.conf"
: >"$RENDERED/brotli.conf"
echo 'gzip off;' >"$RENDERED/plain.conf"

if [ -e "$modules/ngx_http_brotli_filter_module.so" ]; then
  echo "load_module $modules/ngx_http_brotli_filter_module.so;" >>"$RENDERED/main.conf"
  echo 'brotli off;' >>"$RENDERED/plain.conf"
  cat >"$RENDERED/brotli.conf" <<CONF
brotli on;
brotli_comp_level 2;
brotli_min_length 500;
brotli_types text/plain text/css text/x-component text/xml application/javascript text/javascript application/json application/manifest+json application/xml application/rss+xml image/svg+xml;
CONF
fi
