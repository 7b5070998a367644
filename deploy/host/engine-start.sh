#!/bin/sh
# Starts this machine's Docker daemon, detached so that it outlives the shell, and waits until it answers. Root, Linux.
set -eu
. "$(dirname "$0")/lib.sh"

PID_FILE=/var/run/docker.pid
LOG=/var/log/dockerd.log
PATIENCE_S=30

# clear_stale_pid: removes the pid file of a daemon that is gone; it would stop the next one from starting.
clear_stale_pid() {
  [ -s "$PID_FILE" ] || return 0
  if [ "$(cat "/proc/$(cat "$PID_FILE")/comm" 2>/dev/null)" = dockerd ]; then return 0; fi
  say "    removing $PID_FILE, left by a daemon that is gone"
  rm -f "$PID_FILE"
}

clear_stale_pid
if [ -d /run/systemd/system ]; then
  say "    starting the Docker daemon (systemctl start docker)"
  systemctl start docker || true
else
  say "    starting the Docker daemon (log: $LOG)"
  setsid dockerd >>"$LOG" 2>&1 </dev/null &
fi

waited=0
until docker version --format '{{.Server.Version}}' >/dev/null 2>&1; do
  waited=$((waited + 1))
  [ "$waited" -le "$((PATIENCE_S * 2))" ] ||
    die "the Docker daemon did not answer within $PATIENCE_S s; its last words: $(tail -n 1 "$LOG" 2>/dev/null || echo 'journalctl -u docker')"
  sleep 0.5
done
