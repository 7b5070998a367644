#!/bin/sh
# What Nginx needs first: its modules and the number of workers. njs is required; brotli is used if the image has it (Nginx's own has not).
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/render.sh"

is_number "$MAX_CONCURRENT_REQUESTS" 1 30000 ||
  refuse MAX_CONCURRENT_REQUESTS "'$MAX_CONCURRENT_REQUESTS' is not a number of requests" "use a whole number from 1 to 30000"

# As many workers as this container may use CPUs, not as the machine has: each takes memory of its own.
# https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files
read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max ||
  { quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || echo max) period=100000; }
WORKERS=$(nproc)
case $quota in
  max | -1) ;;
  *) [ $(((quota + period - 1) / period)) -ge "$WORKERS" ] || WORKERS=$(((quota + period - 1) / period)) ;;
esac

LOAD_BROTLI='' brotli=leave_out
module=/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so
if [ -e "$module" ]; then
  LOAD_BROTLI="load_module $module;" brotli=render
fi
# Each takes memory of its own, and so does each connection: 8192 in total with the default of 3,000 open requests (SECURITY.md). Each
# further one needs two, the client's and one to web.
[ "$WORKERS" -le 4 ] || WORKERS=4
further=$((MAX_CONCURRENT_REQUESTS > 3000 ? 2 * (MAX_CONCURRENT_REQUESTS - 3000) : 0))
# Nginx does not balance connections: a worker can use up its share before the others. With all of them for each, the sum would be exceeded.
WORKER_CONNECTIONS=$(((8192 + further) / WORKERS))
# Of one worker, which has files of the store open as well.
WORKER_FILES=$((20000 + further))
export WORKERS WORKER_CONNECTIONS WORKER_FILES LOAD_BROTLI
render main.conf
$brotli brotli.conf
