# shellcheck shell=sh
# Replaces the running web by the image that carries its name now, without failing a request. Sourced after lib.sh, ports.sh and reason.sh.

TIMEOUT_S=60 # until the proxy uses a new container; it queries DNS every few seconds

# try_release: runs the new release without the service's name until it is healthy. A release that exits during its start may have
# listened before; a form that it had received would be lost, because forms are not sent twice.
try_release() {
  try web --no-deps web
}

# try SERVICE ARGUMENT...: runs a container with these arguments of `docker compose run` until it is healthy, and removes it.
try() {
  service=$1
  shift
  trial=$(docker compose run --detach "$@") || return
  at_exit remove_trial
  wait_until_healthy "$service" "$trial" && tried=0 || tried=1
  remove_trial
  at_exit_nothing
  return "$tried"
}
remove_trial() { docker rm --force --volumes "$trial" >/dev/null; }

# at_exit COMMAND: runs COMMAND when the script ends, after a signal too, for which a shell does not have to run its EXIT trap.
at_exit() {
  # shellcheck disable=SC2064 # the command now
  trap "$1" EXIT
  trap 'exit 130' INT TERM HUP
}
at_exit_nothing() { trap - EXIT INT TERM HUP; }

# wait_until_healthy SERVICE CONTAINER...: fails, and says why, as soon as one stops or becomes unhealthy.
wait_until_healthy() {
  service=$1
  shift
  for container; do
    while state=$(state "$container" || true) && [ "$state" != 'running healthy' ]; do
      case $state in *starting) sleep 0.25 ;; *)
        say "culvert: $service: $(reason "$container")"
        return 1
        ;;
      esac
    done
  done
}
state() { docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$1"; }

# start_new COUNT: starts COUNT containers of the new release beside the old ones. Removes exited containers first, which compose
# would otherwise restart with the old release. Compose's own --wait would wait for the old ones as well, and they may be what is broken.
start_new() {
  # shellcheck disable=SC2046 # a list
  docker compose rm --force web >/dev/null 2>&1 &&
    docker compose --progress "${PROGRESS:-auto}" up --detach --no-build --no-recreate --scale "web=$((2 * $1))" web >&2 &&
    wait_until_healthy web $(docker compose ps --all --quiet web | grep -vxF "$old")
}

# address CONTAINER: prints its address in the network that the proxy shares with it.
address() {
  docker inspect --format '{{(index .NetworkSettings.Networks (printf "%s_inside" (index .Config.Labels "com.docker.compose.project"))).IPAddress}}' "$1"
}

# wait_until_used CONTAINER...: waits until the proxy has sent a request to each container.
wait_until_used() {
  for container in "$@"; do set -- "$@" "$(address "$container")" && shift; done
  # shellcheck disable=SC2016 # the container's variables
  docker compose exec -T proxy sh -c '
    attempts=$1
    shift
    for address; do
      until curl -s -o /dev/null -D - http://127.0.0.1:8081/web | grep -qi "^x-web:.* $address:"; do
        [ $((attempts -= 1)) -gt 0 ] || exit 1
        sleep 0.25
      done
    done' sh $((TIMEOUT_S * 4)) "$@" || die "the proxy does not use the new containers: docker compose logs proxy"
}

# store_files CONTAINER: requests every hashed file of this release through the proxy, in each encoding, so that the proxy stores all
# of them for open pages. For an app with its files elsewhere, only those that clients have requested are stored.
store_files() {
  list='fs.readdirSync("/app/.next/static", { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => (entry.parentPath.slice(11) + "/" + entry.name).split("/").map(encodeURIComponent).join("/")).join("\n")'
  # One curl for all files: a process and a TLS handshake for each would take minutes on a busy machine.
  # shellcheck disable=SC2016 # the container's variables
  docker exec "$1" node -p "$list" 2>/dev/null | docker compose exec -T proxy sh -c '
    [ "${PROXY_PROTOCOL:-off}" = off ] || set -- --haproxy-protocol
    urls=$(sed "s|.*|url = https://127.0.0.1:8443${BASE_PATH:-}/_next/&|")
    for encoding in br gzip identity; do
      printf "%s\n" "$urls" | curl -sk "$@" -H "Accept-Encoding: $encoding" -K - >/dev/null || exit
    done' || say "    not all could be stored; those that clients have requested are"
}

# wait_for_dns: waits until the proxy has queried DNS again, which no longer returns stopped containers.
wait_for_dns() {
  valid=$(docker compose exec -T proxy sed -n 's/.* valid=\([0-9]*\)s.* resolver_timeout \([0-9]*\)s.*/\1 + \2/p' /tmp/nginx/resolver.conf)
  sleep "$((${valid:-7}))"
}

# stop_old CONTAINER...: stops each container within compose's stop_grace_period and removes it. One at a time, each after the proxy
# has dropped the previous one: it tries few replicas per page, and stopped ones would be among them.
stop_old() {
  while [ $# -gt 0 ]; do
    docker stop "$1" >/dev/null && docker rm "$1" >/dev/null || return
    shift
    [ $# -eq 0 ] || wait_for_dns
  done
}

# find_running: sets `old` to web's running containers, `old_image` to their image and `repository` to the image's name.
find_running() {
  old=$(docker compose ps --quiet web)
  [ -n "$old" ] || die "web does not run: start the stack first (make up)"
  old_image=$(container_image "$old")
  repository=$(project_name)-web
}

# container_image CONTAINERS: prints the image id of the first. An image that runs has an id even if its name is gone.
container_image() { docker inspect --format '{{.Image}}' "$(echo "$1" | head -n 1)"; }

# need_proxy: dies if the proxy could never use a new release.
need_proxy() {
  [ -n "$(address "$(docker compose ps --quiet proxy)" 2>/dev/null)" ] ||
    die "the proxy does not run, or was started by a version with other networks: run make down, then make up"
}

# put_names_back: gives the images of all containers their names back, which a build has taken. Web's comes last: a container of it that
# has exited may have an older one.
put_names_back() {
  docker compose ps --all --quiet | while read -r container; do
    docker inspect --format '{{.Image}} {{.Config.Image}}' "$container" | xargs docker tag || true
  done
  docker tag "$old_image" "$repository" || true
}

# give_up: dies; the old release is still serving.
give_up() {
  put_names_back
  die "the release did not start: the reason is above; the running one keeps serving"
}

# roll: starts the new containers, waits until the proxy uses them, then stops the old ones. Sets `new` to the new containers and
# `new_image` to their image.
roll() {
  step 'Test start' try_release || give_up
  if ! step 'Start' start_new "$(echo "$old" | wc -l)"; then
    # Remove what did not become healthy.
    for container in $(docker compose ps --all --quiet web | grep -vxF "$old"); do docker rm --force "$container" >/dev/null; done
    give_up
  fi
  new=$(docker compose ps --quiet web | grep -vxF "$old")
  # shellcheck disable=SC2034 # for the caller
  new_image=$(container_image "$new")
  # shellcheck disable=SC2086 # a list
  step 'Wait until the proxy uses it' wait_until_used $new
  step "Store the replaced release's files" store_files "$(echo "$old" | head -n 1)"
  # shellcheck disable=SC2086
  step 'Stop the replaced release' stop_old $old
}
