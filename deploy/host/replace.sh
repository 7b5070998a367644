# shellcheck shell=sh disable=SC2154 # unchanged: stack.sh
# Replaces the only container of spool or proxy.

# try_proxy: dies if the new proxy rejects its settings or its certificate.
try_proxy() {
  problem=$(docker compose --progress quiet run --rm --no-deps --no-TTY proxy render 2>&1 >/dev/null) ||
    die "proxy: $(printf '%s\n' "$problem" | sed -n 's/^culvert proxy: //;$p'); $unchanged"
}

# replace SERVICE: creates the new container, stops the old one, starts the new one, and removes the old one if the new
# one is healthy.
replace() {
  old=$(alive "$1") scale=$1=2 grace=
  [ -n "$old" ] || { docker compose --progress quiet up --no-build --wait "$1" >&2; return; }
  # Event streams and WebSockets of the proxy do not end by themselves.
  [ "$1" = spool ] || grace='-t 5'
  [ "$1" = spool ] || ! has_web || scale="$scale --scale web=$(containers web | count)"
  # Not --no-deps: depends_on is part of the settings hash of some versions of compose.
  # shellcheck disable=SC2086 # options
  docker compose --progress quiet create --no-build --no-recreate --scale $scale "$1" >&2 ||
    die "$1: the reason is above; $unchanged"
  read_stack
  new=$(lines_of "$1" | awk '$3 == "created" { print $1 }')
  trap '' INT TERM HUP PIPE
  # Ctrl-C ends the client's wait, not the stop.
  # shellcheck disable=SC2086 # an option
  docker stop $grace "$old" >/dev/null || docker wait "$old" >/dev/null
  docker start "$new" >/dev/null 2>&1 || true
  problem=$(wait_until_healthy "$new") ||
    { repair_service "$1"; die "$1: $problem; the one before it was started again"; }
  docker rm "$old" >/dev/null
  read_stack
  repair_at_exit
}
