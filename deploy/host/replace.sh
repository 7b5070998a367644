# shellcheck shell=sh disable=SC2154 # unchanged, services: stack.sh
# Replaces the only container of spool or proxy, and puts in order what a failed or killed command has left.

# undo_at_exit: however the script ends, what it has started and not switched to is removed. PIPE: `ssh host make up`
# without a terminal ends with the first line that nobody reads.
undo_at_exit() {
  trap 'status=$?; trap "" INT TERM HUP PIPE; repair || true; notify_failure "$status"' EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
# keep_changes: from now on, nothing is undone.
keep_changes() { trap notify_failure EXIT; trap - INT TERM HUP PIPE; }

# repair: of two containers of spool or proxy, the older one stays if the newer one is not healthy; of two sets of web,
# the one that serves. Exports its name as WEB_SET.
repair() {
  for service in spool proxy; do
    # shellcheck disable=SC2046 # two ids, the newest first
    set -- $(containers "$service")
    [ $# -gt 1 ] || continue
    [ "$(state "$1")" != 'running healthy' ] || set -- "$2" "$1"
    docker rm --force "$1" >/dev/null
    docker start "$2" >/dev/null
    wait_until_healthy "$2" >&2 || true
  done
  WEB_SET=$(current_set)
  export WEB_SET
  ask_only "$WEB_SET" || true
  stop_others 5
  name_images
}

# name_images: gives the images of what runs their names of this project back, which a build has taken.
name_images() {
  docker ps --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" |
    xargs -r docker inspect --format '{{.Image}} {{.Config.Image}}' | grep " $COMPOSE_PROJECT_NAME-" |
    while read -r id name; do [ "$(image_id "$name")" = "$id" ] || docker tag "$id" "$name" || true; done 2>/dev/null
}

# try_proxy: dies if the new proxy rejects its settings or its certificate.
try_proxy() {
  problem=$(docker compose --progress quiet run --rm --no-deps --no-TTY proxy render 2>&1 >/dev/null) ||
    die "proxy: $(printf '%s\n' "$problem" | sed -n 's/^culvert proxy: //;$p'); $unchanged"
}

# replace SERVICE: creates a new container beside the old one, stops the old one and starts the new one. If the new one
# does not become healthy, the old one starts again.
replace() {
  old=$(alive "$1") scale=$1=2 grace=
  [ -n "$old" ] || { docker compose --progress quiet up --no-build --wait "$1" >&2; return; }
  # Event streams and WebSockets of the proxy do not end by themselves.
  [ "$1" = spool ] || scale="$scale --scale web=$(containers web | count)" grace='-t 5'
  # Not --no-deps: depends_on is part of the settings hash of some versions of compose.
  # shellcheck disable=SC2086 # options
  docker compose --progress quiet create --no-build --no-recreate --scale $scale "$1" >&2 ||
    die "$1: the reason is above; $unchanged"
  new=$(containers "$1" --filter status=created)
  trap '' INT TERM HUP PIPE
  # Ctrl-C ends the client's wait, not the stop.
  # shellcheck disable=SC2086 # an option
  docker stop $grace "$old" >/dev/null || docker wait "$old" >/dev/null
  docker start "$new" >/dev/null 2>&1 || true
  if problem=$(wait_until_healthy "$new"); then
    docker rm "$old" >/dev/null
    undo_at_exit
  else
    docker rm --force "$new" >/dev/null
    docker start "$old" >/dev/null
    die "$1: $problem; the one before it was started again"
  fi
}
