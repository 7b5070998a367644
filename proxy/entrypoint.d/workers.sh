# shellcheck shell=sh disable=SC2034
# How many workers and connections Nginx has (templates/main.conf): at most four workers, and no more than this container may use CPUs,
# because each takes memory. https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files

read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max ||
  { quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || echo max) period=100000; }
WORKERS=$(nproc)
case $quota in
  max | -1) ;;
  *) [ $(((quota + period - 1) / period)) -ge "$WORKERS" ] || WORKERS=$(((quota + period - 1) / period)) ;;
esac
[ "$WORKERS" -le 4 ] || WORKERS=4
# 8192 connections in total with the default of 3,000 open requests (SECURITY.md). Each further request needs two, the client's and one to web.
further=$((MAX_CONCURRENT_REQUESTS > 3000 ? 2 * (MAX_CONCURRENT_REQUESTS - 3000) : 0))
# Nginx does not balance connections: a worker can use up its share before the others. With all of them for each, the sum would be exceeded.
WORKER_CONNECTIONS=$(((8192 + further) / WORKERS))
# Of one worker, which has files of the store open as well.
WORKER_FILES=$((20000 + further))

# Used if the image has it: Nginx's own has not.
LOAD_BROTLI=/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so
[ -e "$LOAD_BROTLI" ] && LOAD_BROTLI="load_module $LOAD_BROTLI;" || LOAD_BROTLI=''
