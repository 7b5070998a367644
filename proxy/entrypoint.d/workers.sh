# shellcheck shell=sh disable=SC2034
# How many workers and connections Nginx has (templates/main.conf): at most four workers, and no more than this container may use CPUs,
# because each takes memory. https://docs.kernel.org/admin-guide/cgroup-v2.html#cpu-interface-files

read -r quota period 2>/dev/null </sys/fs/cgroup/cpu.max || quota=max
WORKERS=$(nproc)
for allowed in 4 "$([ "$quota" = max ] || echo $(((quota + period - 1) / period)))"; do
  [ "${allowed:-$WORKERS}" -ge "$WORKERS" ] || WORKERS=$allowed
done
# 8192 connections in total with the default of 3,000 open requests (SECURITY.md). Each further request needs two, the client's and one to web.
further=$((MAX_CONCURRENT_REQUESTS > 3000 ? 2 * (MAX_CONCURRENT_REQUESTS - 3000) : 0))
# Nginx does not balance connections: a worker can use up its share before the others. With all of them for each, the sum would be exceeded.
WORKER_CONNECTIONS=$(((8192 + further) / WORKERS))
# Of one worker, which has files of the store open as well.
WORKER_FILES=$((20000 + further))
