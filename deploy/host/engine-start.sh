#!/bin/sh
# Starts this machine's Docker daemon, detached so that it outlives the shell, and waits until it answers. Root, Linux.
set -eu
. "$(dirname "$0")/lib.sh"

PID_FILE=/var/run/docker.pid
LOG=/var/log/dockerd.log
PATIENCE_S=30

# daemon_lives: whether the process named in the pid file is a daemon that still runs (a zombie does not).
daemon_lives() {
  [ -s "$PID_FILE" ] || return 1
  daemon_proc=/proc/$(cat "$PID_FILE")
  [ "$(cat "$daemon_proc/comm" 2>/dev/null)" = dockerd ] && ! grep -q '^State:.*Z' "$daemon_proc/status" 2>/dev/null
}

# last_words: prints the last thing the daemon said.
last_words() {
  if [ -d /run/systemd/system ]; then journalctl -u docker -n 1 -o cat; else tail -n 1 "$LOG"; fi
}

started=
if daemon_lives; then
  say "    the Docker daemon is starting already: waiting for it"
elif [ -d /run/systemd/system ]; then
  say "    starting the Docker daemon (systemctl start docker)"
  systemctl start docker || die "the Docker daemon did not start: $(last_words)"
else
  # Left by a daemon that is gone, it would stop the next one from starting.
  rm -f "$PID_FILE"
  say "    starting the Docker daemon (log: $LOG)"
  setsid dockerd >>"$LOG" 2>&1 </dev/null &
  started=$!
fi

waited=0
until docker version --format '{{.Server.Version}}' >/dev/null 2>&1; do
  waited=$((waited + 1))
  [ -z "$started" ] || kill -0 "$started" 2>/dev/null || die "the Docker daemon ended at once: $(last_words)"
  [ "$waited" -le "$((PATIENCE_S * 2))" ] || die "the Docker daemon did not answer within $PATIENCE_S s: $(last_words)"
  sleep 0.5
done
