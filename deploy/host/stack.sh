# shellcheck shell=sh
# What Docker says about the stack, and the steps that change it. Nothing is remembered between two commands but in Docker: labels, image
# ids, tags and health. Sourced after lib.sh, in the repository's root.

# use_project: exports compose's project name, and waits while another command changes this project. Without flock (macOS) it does not wait.
use_project() {
  COMPOSE_PROJECT_NAME=$(project_name)
  export COMPOSE_PROJECT_NAME
  has flock || return 0
  mkdir -p .culvert
  exec 9>".culvert/$COMPOSE_PROJECT_NAME.lock"
  flock --nonblock 9 && return
  say "==> Another make up or rollback is running: waiting until it ends"
  flock --timeout 1800 9 || die "another make up or rollback has not ended in 30 minutes"
}

# containers SERVICE [OPTION...]: prints the ids of a service's containers, the newest first, exited ones included, trials not.
containers() {
  of=$1
  shift
  docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter "label=com.docker.compose.service=$of" --filter label=com.docker.compose.oneoff=False "$@"
}

# alive SERVICE: prints those that run, or are started again by the engine.
alive() { containers "$1" --filter status=running --filter status=restarting --filter status=paused; }

# serves: whether the site has something to lose.
serves() { [ -n "$(containers proxy --filter health=healthy)" ] && [ -n "$(containers web --filter health=healthy)" ]; }

# as_wanted SERVICE: prints the living containers that have the image and the settings of today. without LIST: filters these out.
as_wanted() {
  hash=$(docker compose config --hash "$1" | cut -d ' ' -f 2)
  for container in $(alive "$1"); do
    # shellcheck disable=SC2046 # three words
    set -- $(docker inspect --format '{{index .Config.Labels "com.docker.compose.config-hash"}} {{.Image}} {{.Config.Image}}' "$container")
    [ "$1 $2" != "$hash $(image_id "$3")" ] || echo "$container"
  done
}
without() { grep -vxF -e "$1" || true; }
count() { grep -c . || true; }
image_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }
image_of() { docker inspect --format '{{.Image}}' "$1"; }

# replicas: prints how many containers web has: those of its largest release, since an interrupted command may have left two. Those that
# `docker compose up --scale` has added belong to it, but do not have the release that make up sets.
replicas() {
  most=$(for container in $(containers web); do
    docker inspect --format '{{println .Image}}{{range .Config.Env}}{{println .}}{{end}}' "$container" | grep -v '^SENTRY_RELEASE' | sort | cksum
  done | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
  echo "${most:-1}"
}

state() { docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$1" 2>/dev/null; }

# wait_until_healthy CONTAINER...: fails as soon as one stops or becomes unhealthy, and prints why.
wait_until_healthy() {
  for container; do
    while [ "$(state "$container")" != 'running healthy' ]; do
      case $(state "$container") in *starting | 'running healthy') sleep 0.25 ;; *) reason "$container"; return 1 ;; esac
    done
  done
}

# reason CONTAINER: prints the last output of its health check with a fix if it runs, else the last line of its log; also if that check
# had succeeded, because then it has crashed.
reason() {
  output=
  if [ "$(docker inspect --format '{{.State.Status}}' "$1")" = running ]; then
    output=$(docker inspect --format '{{with .State.Health}}{{range .Log}}{{println .Output}}{{end}}{{end}}' "$1" | grep '[^[:space:]]' | tail -n 1)
  fi
  # The engine's own output, of a check at the moment when the container ended, is no reason.
  case $output in
    '' | 'OCI runtime exec failed'* | 'GET '*': status '[1-4]*) docker logs --tail 1 "$1" 2>&1 | tail -n 1 | sed 's/^culvert[a-z ]*: //' ;;
    'GET '*': status '*) echo "$output: see 'docker compose logs web', or set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)" ;;
    'GET '*ECONNREFUSED*) echo "$output: the app must listen on port 3000 on all addresses, not on 127.0.0.1 only (PORT=3000 HOSTNAME=0.0.0.0)" ;;
    'GET '*) echo "$output: see 'docker compose logs web', or set HEALTH_PATH to a path that answers faster" ;;
    *) printf '%s\n' "$output" ;;
  esac
}

# undo_at_exit: at the end of the script, however it ends, trials are removed, and the images of what runs have their names, which a build
# has taken. PIPE: `ssh host make up` without a terminal ends with the first line that nobody reads.
undo_at_exit() {
  trap 'trap "" PIPE; remove_trials; name_images' EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
remove_trials() { trials | xargs -r docker rm --force --volumes >/dev/null; }
# The oldest container's image comes last: that of the release that was to be replaced.
name_images() {
  docker ps --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" | xargs -r docker inspect --format '{{.Image}} {{.Config.Image}}' |
    while read -r id name; do [ "$(image_id "$name")" = "$id" ] || docker tag "$id" "$name" || true; done 2>/dev/null
}

# repair: ends what an interrupted command has begun. Of two containers of spool or proxy, the older one stays if the newer one is not
# complete: not started, or a proxy without its outer networks. Two releases of web both serve: roll replaces whatever is not wanted.
repair() {
  remove_trials
  for service in spool proxy; do
    # shellcheck disable=SC2046 # two ids, the newest first
    set -- $(containers "$service")
    [ $# -gt 1 ] || continue
    say "==> An interrupted command has left two containers of $service: keeping one"
    if [ "$(docker inspect --format '{{.State.Running}} {{len .NetworkSettings.Networks}}' "$1")" = "true $(docker inspect --format '{{len .NetworkSettings.Networks}}' "$2")" ]; then
      set -- "$2" "$1"
    fi
    docker rm --force "$1" >/dev/null
    docker start "$2" >/dev/null
    wait_until_healthy "$2" >&2 || true
  done
}

# try SERVICE...: runs each beside the stack, without its name, ports and queue, until it is healthy. Else dies with the reason: nothing was
# replaced.
try() {
  for service; do
    [ "$service" != spool ] || set -- --volume /var/lib/spool
    [ "$service" = spool ] || set --
    docker compose --progress quiet run --detach --no-deps --label culvert.trial=yes "$@" "$service" >/dev/null || die "$service: the reason is above; $kept"
  done
  for trial in $(trials); do
    problem=$(wait_until_healthy "$trial") || die "$(service_of "$trial"): $problem; $kept"
  done
  remove_trials
}
kept='nothing was replaced, what runs keeps serving'
trials() { docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter label=culvert.trial; }
service_of() { docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}}' "$1"; }

# swap SERVICE: replaces the only container of spool or proxy. The new one is created before the old one stops; a proxy also starts before, in
# the inner network only, where it needs no port. If the new one does not become healthy, the old one is started again.
swap() {
  old=$(alive "$1")
  if [ -z "$old" ]; then docker compose --progress quiet up --no-build --wait "$1" >&2; return; fi
  # Not --no-deps here and below: depends_on is part of the settings hash of some versions of compose.
  scale=$1=2
  [ "$1" = spool ] || scale="$scale --scale web=$(containers web | count)"
  # shellcheck disable=SC2086 # options
  docker compose --progress quiet create --no-build --no-recreate --scale $scale "$1" >&2 || return
  new=$(containers "$1" --filter status=created)
  outer=
  if [ "$1" = proxy ]; then
    outer=$(docker inspect --format '{{range $name, $network := .NetworkSettings.Networks}}{{$name}}{{range $network.Aliases}} --alias={{.}}{{end}}
{{end}}' "$new" | grep -v -e "^${COMPOSE_PROJECT_NAME}_inside " -e '^$')
    echo "$outer" | while read -r network _; do docker network disconnect "$network" "$new"; done
    docker start "$new" >/dev/null
    problem=$(wait_until_healthy "$new") || { docker rm --force "$new" >/dev/null; die "$1: $problem; $kept"; }
  fi
  trap '' INT TERM HUP PIPE
  # Ctrl-C ends the client's wait, not the stop. Open responses have a few seconds: event streams and WebSockets do not end by themselves.
  docker stop --time 5 "$old" >/dev/null || docker wait "$old" >/dev/null
  if connect "$new" "$outer" && docker start "$new" >/dev/null && problem=$(wait_until_healthy "$new"); then
    docker rm "$old" >/dev/null
    undo_at_exit
    return
  fi
  docker rm --force "$new" >/dev/null
  docker start "$old" >/dev/null
  die "$1: ${problem:-the reason is above}; the one before it was started again"
}

# connect CONTAINER NETWORKS: connects it to these networks, a line for each with its options; the engine then publishes its ports.
connect() {
  [ -z "$2" ] || echo "$2" | while read -r network aliases; do
    # shellcheck disable=SC2086 # options
    docker network connect $aliases "$network" "$1" || exit
  done
}

# roll: replaces web's containers that are not as wanted, without failing a request: the new ones start beside them, and the old ones stop
# when the proxy has got an answer below 500 from each new one.
roll() {
  wanted=$(replicas)
  docker compose --progress quiet rm --force web >/dev/null 2>&1
  missing=$((wanted - $(as_wanted web | count)))
  if [ "$missing" -gt 0 ]; then
    docker compose --progress quiet up --detach --no-build --no-recreate --scale "web=$((missing + $(alive web | count)))" web >&2 || give_up
  fi
  new=$(as_wanted web)
  [ -n "$new" ] || { problem="compose started containers with other settings than 'docker compose config' has"; give_up; }
  old=$(alive web | without "$new")
  # shellcheck disable=SC2086 # a list
  problem=$(wait_until_healthy $new && wait_until_used $new) || give_up
  [ -n "$old" ] || return 0
  store_files "$(echo "$old" | head -n 1)"
  # shellcheck disable=SC2086
  remove_gracefully $old
}
give_up() {
  new=$(as_wanted web)
  # shellcheck disable=SC2086
  [ "$new" = "$(alive web)" ] || remove_gracefully $new
  # It was none that a rollback should go back to.
  [ -z "${started_tag:-}" ] || untag "$started_tag"
  die "web: ${problem:-the reason is above}; the release before it keeps serving"
}

# wait_until_used CONTAINER...: waits until the proxy has got an answer below 500 from each; if it has not after a minute, prints the last. Only
# tests set USED_WITHIN_S.
wait_until_used() {
  for container; do
    address=$(docker inspect --format '{{(index .NetworkSettings.Networks (printf "%s_inside" (index .Config.Labels "com.docker.compose.project"))).IPAddress}}' "$container")
    # shellcheck disable=SC2016 # the container's variables
    docker compose exec -T proxy sh -c '
      end=$(($(date +%s) + $2)) last=
      while [ "$(date +%s)" -lt "$end" ]; do
        answer=$(curl -s -m 5 -o /dev/null -D - http://127.0.0.1:8081/web | tr -d "\r" | awk -v address="$1:" "
          NR == 1 { status = \$2 } tolower(\$1) == \"x-web:\" && index(\$NF, address) == 1 { print status }")
        [ "${answer:-500}" -ge 500 ] || exit 0
        last=${answer:-$last}
        sleep 0.25
      done
      echo "the proxy got ${last:+status }${last:-no answer} from the new container at $1"; exit 1' sh "$address" "${USED_WITHIN_S:-60}" || return
  done
}

# store_files CONTAINER: requests every hashed file of this release through the proxy, in each encoding, so that the proxy stores all
# of them for open pages. For an app with its files elsewhere, only those that clients have requested are stored.
store_files() {
  list='fs.readdirSync("/app/.next/static", { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => (entry.parentPath.slice(11) + "/" + entry.name).split("/").map(encodeURIComponent).join("/")).join("\n")'
  # One curl for all files: a process and a TLS handshake for each would take minutes on a busy machine.
  # shellcheck disable=SC2016 # the container's variables
  docker exec "$1" node -p "$list" 2>/dev/null | docker compose exec -T proxy sh -c '
    urls=$(sed "s|..*|url = https://127.0.0.1:8443${BASE_PATH:-}/_next/&|")
    [ -n "$urls" ] || exit 0
    [ "${PROXY_PROTOCOL:-off}" != on ] || set -- --haproxy-protocol
    for encoding in br gzip identity; do
      printf "%s\n" "$urls" | curl -sk "$@" -H "Accept-Encoding: $encoding" -K - >/dev/null || exit
    done' || say "    not all files of the replaced release could be stored; those that clients have requested are"
}

# remove_gracefully CONTAINER...: stops and removes one after the other, each when the proxy has dropped the previous one: it tries few
# replicas per page, and stopped ones would be among them.
remove_gracefully() {
  while [ $# -gt 0 ]; do
    docker stop "$1" >/dev/null && docker rm "$1" >/dev/null || return
    shift
    # `valid` and `resolver_timeout` of proxy/templates/resolver.conf.
    [ $# -eq 0 ] || sleep 7
  done
}

# rest: starts what no request passes, and stops what the settings no longer include (ACME=off, a SENTRY_DSN).
rest() {
  docker compose --progress quiet up --no-build --wait --scale "web=$(replicas)" >&2 || die "proxy, web and spool run, but not all of the others: the reason is above"
  unused=$(docker compose --profile '*' ps --all --services | grep -x -e acme -e ingest | without "$(docker compose config --services)")
  # shellcheck disable=SC2086
  [ -z "$unused" ] || docker compose --progress quiet --profile '*' rm --force --stop $unused >&2
}
