# shellcheck shell=sh disable=SC2154 # kept: sets.sh
# Replaces the only container of spool or proxy. Sourced after stack.sh.

# undo_at_exit: however the script ends, what it has started and not switched to is removed, and the images of what runs
# get their names back, which a build has taken. PIPE: `ssh host make up` without a terminal ends with the first line
# that nobody reads.
undo_at_exit() {
  trap 'notify_failure; trap "" PIPE; undo_set; keep_one_container; name_images' EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
# The oldest container's image comes last: that of the release that was to be replaced. Only names
# of this project: the name of WEB_IMAGE belongs to who built it.
name_images() {
  docker ps --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" |
    xargs -r docker inspect --format '{{.Image}} {{.Config.Image}}' |
    while read -r id name; do
      case $name in "$COMPOSE_PROJECT_NAME"-*) ;; *) continue ;; esac
      [ "$(image_id "$name")" = "$id" ] || docker tag "$id" "$name" || true
    done 2>/dev/null
}

# keep_one_container: of two containers of spool or proxy, the older one stays if the newer one is not complete: not
# started, or a proxy without its outer networks.
keep_one_container() {
  for service in spool proxy; do
    # shellcheck disable=SC2046 # two ids, the newest first
    set -- $(containers "$service")
    [ $# -gt 1 ] || continue
    newer=$(docker inspect --format '{{.State.Running}} {{len .NetworkSettings.Networks}}' "$1")
    older=$(docker inspect --format '{{len .NetworkSettings.Networks}}' "$2")
    [ "$newer" != "true $older" ] || set -- "$2" "$1"
    docker rm --force "$1" >/dev/null
    docker start "$2" >/dev/null
    wait_until_healthy "$2" >&2 || true
  done
}

# repair: ends what a killed command has begun. Of two sets of web, the current one stays.
repair() {
  keep_one_container
  WEB_SET=$(current_set)
  export WEB_SET
  left=$(set_of "$(other_set "$WEB_SET")")
  [ -n "$left" ] && [ -n "$(set_of "$WEB_SET")" ] || return 0
  say "==> An interrupted command has left two releases of web: keeping the one that serves"
  ask_only "$WEB_SET" 60 || true
  drain
  # shellcheck disable=SC2086 # a list
  { docker stop $left && docker rm $left; } >/dev/null
}

# prepare SERVICE: creates the new container beside the old one, and sets prepared and outer, its other networks. A
# proxy also starts, in the inner network only, where it needs no port. Dies if it is not good; nothing was replaced.
prepare() {
  # Not --no-deps: depends_on is part of the settings hash of some versions of compose.
  scale=$1=2
  [ "$1" = spool ] || scale="$scale --scale web=$(containers web | count)"
  # shellcheck disable=SC2086 # options
  docker compose --progress quiet create --no-build --no-recreate --scale $scale "$1" >&2 ||
    die "$1: the reason is above; $kept"
  prepared=$(containers "$1" --filter status=created) outer=''
  [ "$1" = proxy ] || return 0
  outer=$(docker inspect --format '{{range $name, $network := .NetworkSettings.Networks
    }}{{$name}}{{range $network.Aliases}} --alias={{.}}{{end}}
{{end}}' "$prepared" | grep -v -e "^${COMPOSE_PROJECT_NAME}_inside " -e '^$')
  # Docker cannot take a container that has not run yet out of a network that it has by id, as compose gives it an
  # external one. That proxy starts when the old one has stopped.
  ! echo "$outer" | grep -qE '^[0-9a-f]{64}( |$)' || { outer=''; return 0; }
  echo "$outer" | while read -r network _; do
    [ -z "$network" ] || docker network disconnect "$network" "$prepared"
  done
  problem=$(docker start "$prepared" 2>&1 >/dev/null && wait_until_healthy "$prepared") ||
    die "$1: ${problem:-the reason is above}; $kept"
}

# swap SERVICE: stops the old container and starts the prepared one in its place. If it does not become healthy, the old
# one starts again.
swap() {
  new=$prepared old=$(alive "$1" | without "$prepared")
  trap '' INT TERM HUP PIPE
  # Which release a request belongs to (sets.sh).
  [ "$1" != proxy ] ||
    docker exec "$old" tar -cC /tmp/nginx sets | docker exec -i "$new" tar -xC /tmp/nginx 2>/dev/null || true
  # Ctrl-C ends the client's wait, not the stop. Event streams and WebSockets do not end by themselves.
  docker stop --time 5 "$old" >/dev/null || docker wait "$old" >/dev/null
  if connect "$new" && docker start "$new" >/dev/null && problem=$(wait_until_healthy "$new"); then
    docker rm "$old" >/dev/null
    undo_at_exit
    return
  fi
  docker rm --force "$new" >/dev/null
  docker start "$old" >/dev/null
  die "$1: ${problem:-the reason is above}; the one before it was started again"
}

# connect CONTAINER: connects it to the networks in outer, a line each with its options. Then its ports are open.
connect() {
  [ -z "$outer" ] || echo "$outer" | while read -r network aliases; do
    # shellcheck disable=SC2086 # options
    docker network connect $aliases "$network" "$1" || exit
  done
}
