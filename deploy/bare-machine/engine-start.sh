#!/bin/sh
# Starts this machine's Docker daemon, detached from the shell, and waits until it answers. As root, on Linux.
set -eu
. "$(dirname "$0")/lib.sh"

PID_FILE=/var/run/docker.pid
LOG=/var/log/dockerd.log
TIMEOUT_S=30

# daemon_runs: whether the pid file names a running daemon (not a zombie).
daemon_runs() {
  [ -s "$PID_FILE" ] || return 1
  daemon_proc=/proc/$(cat "$PID_FILE")
  [ "$(cat "$daemon_proc/comm" 2>/dev/null)" = dockerd ] && ! grep -q '^State:.*Z' "$daemon_proc/status" 2>/dev/null
}

# last_log_line: prints the last line of the daemon's log.
last_log_line() {
  if [ -d /run/systemd/system ]; then journalctl -u docker -n 1 -o cat; else tail -n 1 "$LOG"; fi
}

started=
if daemon_runs; then
  say "    the Docker daemon is already starting: waiting for it"
elif [ -d /run/systemd/system ]; then
  say "    starting the Docker daemon (systemctl start docker)"
  systemctl start docker || die "the Docker daemon did not start: $(last_log_line)"
else
  # The pid file of a daemon that was killed would keep the next one from starting.
  rm -f "$PID_FILE"
  # By default an engine has room for 31 networks, which is ten stacks at most: here, 4,096 networks of 254 addresses.
  [ -e /etc/docker/daemon.json ] || set -- --default-address-pool base=172.16.0.0/12,size=24
  say "    starting the Docker daemon (log: $LOG)"
  setsid dockerd "$@" >>"$LOG" 2>&1 </dev/null &
  started=$!
fi

waited=0
until docker version --format '{{.Server.Version}}' >/dev/null 2>&1; do
  waited=$((waited + 1))
  [ -z "$started" ] || kill -0 "$started" 2>/dev/null || die "the Docker daemon exited at once: $(last_log_line)"
  [ "$waited" -le "$((TIMEOUT_S * 2))" ] || die "the Docker daemon did not answer within $TIMEOUT_S s: $(last_log_line)"
  sleep 0.5
done
