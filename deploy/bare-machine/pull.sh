# shellcheck shell=sh
# Pulls an image without waiting long for a registry that does not answer. Sourced.

PULL_TIMEOUT_S=5 # for a registry's first answer

# pull IMAGE: pulls IMAGE; returns 1, with the reason in the file $log, if no registry answers in time or the registry
# refuses. By the engine, because only it knows its mirrors, proxies and credentials.
pull() {
  # shellcheck disable=SC2154 # the caller's
  docker pull "$1" >"$log" 2>&1 &
  pull_pid=$!
  waited=0
  while kill -0 "$pull_pid" 2>/dev/null && ! grep -q 'Pulling from' "$log"; do
    if [ "$waited" -ge $((PULL_TIMEOUT_S * 10)) ]; then
      kill "$pull_pid" 2>/dev/null || true
      echo "no answer within $PULL_TIMEOUT_S s" >"$log"
      return 1
    fi
    waited=$((waited + 1))
    sleep 0.1
  done
  wait "$pull_pid"
}
