#!/bin/sh
# What Nginx needs first: its modules and the number of workers. njs is required; brotli is used if the image has it (Nginx's own has not).
set -eu
. "$(dirname "$0")/render.sh"

# As many workers as this container may use CPUs, not as the machine has: each takes memory of its own.
# https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max ||
  { quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || echo max) period=100000; }
WORKERS=$(nproc)
case $quota in
  max | -1) ;;
  *) [ $(((quota + period - 1) / period)) -ge "$WORKERS" ] || WORKERS=$(((quota + period - 1) / period)) ;;
esac

LOAD_BROTLI='' BROTLI_OFF='' brotli=leave_out
module=/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so
if [ -e "$module" ]; then
  LOAD_BROTLI="load_module $module;" BROTLI_OFF='brotli off;' brotli=render
fi
export WORKERS LOAD_BROTLI BROTLI_OFF
render main.conf
render uncompressed.conf
$brotli brotli.conf
