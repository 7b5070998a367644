# shellcheck shell=sh
# Replaces the running web by the image that carries its name now, without failing a request. Sourced after lib.sh, with `here` set
# to this folder, in the repository's root.
# shellcheck disable=SC2154

. "$here/ports.sh"
. "$here/reason.sh"
. "$here/interrupted.sh"

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
  undo_at_exit remove_trials
  trial=$(docker compose run --detach --label culvert.trial=yes "$@") && wait_until_healthy "$service" "$trial" && tried=0 || tried=1
  remove_trials
  undo_at_exit
  return "$tried"
}
remove_trials() {
  for container in $(docker ps --all --quiet --filter "label=com.docker.compose.project=$project" --filter label=culvert.trial); do
    docker rm --force --volumes "$container" >/dev/null
  done
}

# begin: notes what is going to be replaced, for interrupted.sh.
begin() {
  mkdir -p .culvert
  forget='rm -f'
  # An undo leaves what an earlier interruption has left, and so its note.
  if [ -s "$(replaced_file)" ]; then forget=:; else echo "$old" >"$(replaced_file)"; fi
  undo_at_exit
}
replaced_file() { echo ".culvert/$project.replaced"; }
replaced_count() { grep -cvx -e started -e stopping "$(replaced_file)"; }

# undo_at_exit [COMMAND]: has COMMAND run, and the images get their names back, when the script ends before nothing_to_undo, after a
# signal too, for which a shell does not have to run its EXIT trap. PIPE: `ssh host make deploy` has no terminal, and the first line that it
# prints after the end of the connection would end it.
undo_at_exit() {
  # shellcheck disable=SC2064 # the command now
  trap "trap '' PIPE; { ${1:-:} && $forget '$(replaced_file)'; } || :; put_names_back" EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
nothing_to_undo() { trap - EXIT INT TERM HUP PIPE; }

# containers SERVICE [OPTION...]: prints a service's containers, exited ones included; unlike compose, without those of `compose run`.
containers() {
  of=$1
  shift
  docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$project" --filter "label=com.docker.compose.service=$of" \
    --filter label=com.docker.compose.oneoff=False "$@"
}

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

# start_new: starts the containers of the new release beside the old ones. Removes exited containers first, which compose would otherwise
# restart with the old release. Compose's own --wait would wait for the old ones as well, and they may be what is broken.
start_new() {
  # shellcheck disable=SC2046 # a list
  docker compose rm --force web >/dev/null 2>&1 &&
    docker compose --progress "${PROGRESS:-auto}" up --detach --no-build --no-recreate --scale "web=$(($(containers web | wc -l) + replicas))" web >&2 &&
    wait_until_healthy web $(started)
}

# started: prints web's containers that are beside the old ones.
started() { containers web | grep -vxF "$old"; }

# address CONTAINER: prints its address in the network that the proxy shares with it.
address() {
  docker inspect --format '{{(index .NetworkSettings.Networks (printf "%s_inside" (index .Config.Labels "com.docker.compose.project"))).IPAddress}}' "$1"
}

# wait_until_used CONTAINER...: waits until the proxy has sent a request to each container.
wait_until_used() {
  for container in "$@"; do set -- "$@" "$(address "$container")" && shift; done
  # shellcheck disable=SC2016 # the container's variables
  docker compose exec -T proxy sh -c '
    end=$(($(date +%s) + $1))
    shift
    for address; do
      until curl -s -m 5 -o /dev/null -D - http://127.0.0.1:8081/web | grep -qi "^x-web:.* $address:"; do
        [ "$(date +%s)" -lt "$end" ] || exit 1
        sleep 0.25
      done
    done' sh "$TIMEOUT_S" "$@" || die "the proxy does not use the new containers: docker compose logs proxy"
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
  valid=$(docker compose exec -T proxy sed -n 's/.* valid=\([0-9]*\)s.* resolver_timeout \([0-9]*\)s.*/\1 + \2/p' /tmp/nginx/resolver.conf) || valid=
  sleep "$((${valid:-7}))"
}

# remove_gracefully CONTAINER...: stops each container within compose's stop_grace_period and removes it. One at a time, each after the
# proxy has dropped the previous one: it tries few replicas per page, and stopped ones would be among them.
remove_gracefully() {
  while [ $# -gt 0 ]; do
    docker stop "$1" >/dev/null && docker rm "$1" >/dev/null || return
    shift
    [ $# -eq 0 ] || wait_for_dns
  done
}

# find_running: sets `old` to web's running containers, `replicas` to how many there are to be, `old_image` to their image and `repository`
# to the image's name.
find_running() {
  project=$(project_name)
  repository=$project-web
  old=$(docker compose ps --quiet web)
  [ -n "$old" ] || die "web does not run: start the stack first (make up)"
  old_image=$(container_image "$old")
  replicas=$(echo "$old" | wc -l)
  [ ! -s "$(replaced_file)" ] || replicas=$(replaced_count)
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
  done 2>/dev/null
  docker tag "$old_image" "$repository" || true
}

# give_up: dies; the old release is still serving.
give_up() { die "the release did not start: the reason is above; the running one keeps serving"; }

# start_release: starts the new containers and waits until the proxy uses them. Sets `new` to them and `new_image` to their image.
start_release() {
  step 'Test start' try_release || give_up
  undo_at_exit remove_started
  # Without this line, other containers are replicas that somebody has added since.
  echo started >>"$(replaced_file)"
  step 'Start' start_new || give_up
  new=$(started)
  # shellcheck disable=SC2034 # for the caller
  new_image=$(container_image "$new")
  # shellcheck disable=SC2086 # a list
  step 'Wait until the proxy uses it' wait_until_used $new
  step "Store the replaced release's files" store_files "$(echo "$old" | head -n 1)"
}

# remove_started: removes what start_release has started.
remove_started() {
  say "==> Remove the new containers"
  # shellcheck disable=SC2046 # a list
  remove_gracefully $(started)
}

# stop_replaced: stops the old containers.
stop_replaced() {
  nothing_to_undo
  # A container that is being stopped looks healthy until it exits.
  echo stopping >>"$(replaced_file)"
  trap 'trap "" PIPE; say "culvert: interrupted: the new release serves beside the rest of the replaced one, which the next make deploy removes"; exit 130' INT TERM HUP PIPE
  # shellcheck disable=SC2086 # a list
  step 'Stop the replaced release' remove_gracefully $old
  rm "$(replaced_file)"
  nothing_to_undo
}
