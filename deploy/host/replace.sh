# shellcheck shell=sh
# Tries new containers beside the stack, and replaces those of spool and proxy. Sourced after lib.sh.

. deploy/host/stack.sh
. deploy/host/releases.sh

# undo_at_exit: when the script ends, trials are removed. A build takes the names of the running images: they get them
# back. PIPE: `ssh host make up` without a terminal ends with the first line that is not read.
undo_at_exit() {
  trap 'notify_failure; trap "" PIPE; remove_trials; name_images' EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
remove_trials() { trials | xargs -r docker rm --force --volumes >/dev/null; }
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

# repair: ends what an interrupted command has begun. If spool or proxy has two containers, the older one stays unless
# the newer one is complete: started, and the proxy with its outer networks. Two releases of web both serve:
# replace_web replaces whatever is not wanted.
repair() {
  remove_trials
  for service in spool proxy; do
    # shellcheck disable=SC2046 # two ids, the newest first
    set -- $(containers "$service")
    [ $# -gt 1 ] || continue
    say "==> An interrupted command has left two containers of $service: keeping one"
    newer=$(docker inspect --format '{{.State.Running}} {{len .NetworkSettings.Networks}}' "$1")
    older=$(docker inspect --format '{{len .NetworkSettings.Networks}}' "$2")
    [ "$newer" != "true $older" ] || set -- "$2" "$1"
    docker rm --force "$1" >/dev/null
    docker start "$2" >/dev/null
    wait_until_healthy "$2" >&2 || true
  done
}

# try_services SERVICE...: runs each beside the stack, without its name, ports and queue, until it is healthy, and web
# answers the proxy as the web that runs does. Else dies with the reason: nothing was replaced. Sets tried_web to what
# release_of prints of web.
try_services() {
  tried=
  for service; do
    if [ "$service" = spool ]; then set -- --volume /var/lib/spool; else set --; fi
    trial=$(docker compose --progress quiet run --detach --no-deps --label culvert.trial=yes "$@" "$service") ||
      die "$service: the reason is above; $kept"
    tried="$tried $trial"
  done
  # The proxy first: it names a setting that web only fails with.
  for trial in $tried; do
    problem=$(wait_until_healthy "$trial" && answers_proxy "$trial" && answers_as_before "$trial") ||
      die "$(service_of "$trial"): $problem; $kept"
    # shellcheck disable=SC2034 # for up.sh
    [ "$(service_of "$trial")" != web ] || tried_web=$(release_of "$trial")
  done
  remove_trials
}
kept='nothing was replaced, what runs keeps serving'
trials() {
  docker ps --all --quiet --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" --filter label=culvert.trial
}
service_of() { docker inspect --format '{{index .Config.Labels "com.docker.compose.service"}}' "$1"; }

# answers_proxy TRIAL: asks web's trial from the proxy, with the headers of a visitor's request; prints what is wrong.
answers_proxy() {
  [ "$(service_of "$1")" = web ] || return 0
  status=$(status_of "$1" "$(health_path)" 60)
  case $status in [1-4]??) return ;; esac
  echo "the proxy got status $status from the new container at $(inner_address "$1")"
  return 1
}

# answers_as_before TRIAL: prints what web answers below 400 and its trial does not. With the same image, only the
# health check counts, because settings such as CONSOLE decide what the start page is.
answers_as_before() {
  runs_now=$(containers web --filter health=healthy | head -n 1) paths=$(health_path)
  [ "$(service_of "$1")" = web ] && [ -n "$runs_now" ] && [ "${ALLOW_CHANGED_ANSWERS:-}" != on ] || return 0
  [ "$(image_of "$runs_now")" = "$(image_of "$1")" ] || paths="$paths $(setting BASE_PATH /)"
  for path in $paths; do
    before_it=$(status_of "$runs_now" "$path" 5)
    case $before_it in [123]??) status=$(status_of "$1" "$path" 15) ;; *) continue ;; esac
    case $status in [123]??) continue ;; esac
    echo "$path answers $status, and $before_it from what runs: if this is intended, set ALLOW_CHANGED_ANSWERS=on"
    return 1
  done
}

# status_of CONTAINER PATH SECONDS: prints what it answers the proxy there, as to a visitor. Tries for SECONDS.
status_of() {
  name=$(first_of "$(setting SERVER_NAME localhost)")
  docker compose exec -T proxy curl -s -m 5 -o /dev/null -w '%{http_code}' \
    --retry 60 --retry-delay 1 --retry-max-time "$3" \
    -H "Host: $name" -H "X-Forwarded-Host: $name" -H 'X-Forwarded-Proto: https' -H 'X-Request-Id: trial' \
    -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    "http://$(inner_address "$1"):3000$2" || true
}

# replace_container SERVICE: replaces the only container of spool or proxy. The new one is created before the old one
# stops; a proxy also starts before, in the inner network only, where it needs no port. If the new one does not become
# healthy, the old one is started again.
replace_container() {
  old=$(alive "$1")
  if [ -z "$old" ]; then docker compose --progress quiet up --no-build --wait "$1" >&2; return; fi
  # Not --no-deps here and below: depends_on is part of the settings hash of some versions of compose.
  scale=$1=2
  [ "$1" = spool ] || scale="$scale --scale web=$(containers web | count)"
  # shellcheck disable=SC2086 # options
  docker compose --progress quiet create --no-build --no-recreate --scale $scale "$1" >&2 ||
    die "$1: the reason is above; $kept"
  new=$(containers "$1" --filter status=created)
  outer=
  if [ "$1" = proxy ]; then
    outer=$(docker inspect --format '{{range $name, $network := .NetworkSettings.Networks
      }}{{$name}}{{range $network.Aliases}} --alias={{.}}{{end}}
{{end}}' "$new" | grep -v -e "^${COMPOSE_PROJECT_NAME}_inside " -e '^$')
    # Docker cannot take a container that has not run yet out of a network that it has by id, as compose gives it an
    # external one. That proxy starts when the old one has stopped.
    ! echo "$outer" | grep -qE '^[0-9a-f]{64}( |$)' || outer=
    echo "$outer" | while read -r network _; do [ -z "$network" ] || docker network disconnect "$network" "$new"; done
    if [ -n "$outer" ] && ! { docker start "$new" >/dev/null && problem=$(wait_until_healthy "$new"); }; then
      docker rm --force "$new" >/dev/null
      die "$1: ${problem:-the reason is above}; $kept"
    fi
  fi
  trap '' INT TERM HUP PIPE
  # Ctrl-C ends the client's wait, not the stop. Event streams and WebSockets do not end by themselves.
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

# connect CONTAINER NETWORKS: connects it to networks, a line each with its options. Then its ports are open.
connect() {
  [ -z "$2" ] || echo "$2" | while read -r network aliases; do
    # shellcheck disable=SC2086 # options
    docker network connect $aliases "$network" "$1" || exit
  done
}
