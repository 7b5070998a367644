# shellcheck shell=sh
# Replaces the containers of web without failing a request. Sourced after lib.sh.

. deploy/host/replace.sh
. deploy/host/previous.sh

# replace_web: replaces web's containers that are not as wanted, without failing a request: the new ones start beside
# them, and the old ones stop when the proxy has got an answer below 500 from each new one.
replace_web() {
  wanted=$(replicas)
  docker compose --progress quiet rm --force web >/dev/null 2>&1 || true
  replaced=$(alive web | without "$(as_wanted web)" | head -n 1)
  # shellcheck disable=SC2154 # tried_web of try_services
  [ -z "$replaced" ] || [ "$(image_of "$replaced")" = "${tried_web%% *}" ] ||
    keep_release "$replaced" || say "    open pages get the new release: the reason is above"
  missing=$((wanted - $(as_wanted web | count)))
  if [ "$missing" -gt 0 ]; then
    scale=web=$((missing + $(alive web | count)))
    docker compose --progress quiet create --no-build --no-recreate --scale "$scale" web >&2 || give_up
    # shellcheck disable=SC2046 # a list
    name_replicas $(containers web --filter status=created) || give_up
    docker compose --progress quiet up --detach --no-build --no-recreate --scale "$scale" web >&2 || give_up
  fi
  new=$(as_wanted web)
  if [ -z "$new" ]; then
    problem="compose started containers with other settings than 'docker compose config' has"
    give_up
  fi
  old=$(alive web | without "$new")
  # shellcheck disable=SC2086 # a list
  problem=$(wait_until_healthy $new && wait_until_used $new) || give_up
  [ -n "$old" ] || return 0
  store_files "$(echo "$old" | head -n 1)"
  # shellcheck disable=SC2086
  remove_gracefully $old
  end_previous "${tried_web%% *}"
}
give_up() {
  new=$(as_wanted web)
  # shellcheck disable=SC2086
  [ "$new" = "$(alive web)" ] || remove_gracefully $new || true
  end_previous "$(newest_image)"
  [ -z "${started:-}" ] || undo_release "$started"
  die "web: ${problem:-the reason is above}; the release before it keeps serving"
}

# wait_until_used CONTAINER...: waits until the proxy has got an answer below 500 from each; if it has not after a
# minute, prints the last.
wait_until_used() {
  for container; do
    # shellcheck disable=SC2016 # the container's variables
    docker compose exec -T proxy sh -c '
      end=$(($(date +%s) + $2)) last=
      while [ "$(date +%s)" -lt "$end" ]; do
        answer=$(curl -s -m 5 -o /dev/null -D - "http://127.0.0.1:8081/web$3" | tr -d "\r" | awk -v address="$1:" "
          NR == 1 { status = \$2 } tolower(\$1) == \"x-web:\" && index(\$NF, address) == 1 { print status }")
        [ "${answer:-500}" -ge 500 ] || exit 0
        last=${answer:-$last}
        sleep 0.25
      done
      echo "the proxy got ${last:+status }${last:-no answer} from the new container at $1"; exit 1' \
      sh "$(inner_address "$container")" 60 "$(health_path)" || return
  done
}

# store_files CONTAINER: requests every hashed file of this release through the proxy, in each encoding, so that the
# proxy stores it for open pages. If an app has its files elsewhere, the proxy stores only what clients requested.
store_files() {
  # One curl for all files: a process and a TLS handshake for each would take minutes on a busy machine.
  # shellcheck disable=SC2016 # the container's variables
  docker cp "$1:/app/.next/static" - 2>/dev/null | tar -t 2>/dev/null | docker compose exec -T proxy sh -c '
    urls=$(sed -e "/\/$/d" -e "s|%|%25|g; s| |%20|g; s|\[|%5B|g; s|\]|%5D|g" \
      -e "s|^|url = https://127.0.0.1:8443${BASE_PATH:-}/_next/|")
    [ -n "$urls" ] || exit 0
    [ "${PROXY_PROTOCOL:-off}" != on ] || set -- --haproxy-protocol
    for encoding in gzip identity; do
      printf "%s\n" "$urls" | curl -skg "$@" -H "Accept-Encoding: $encoding" -K - >/dev/null || exit
    done' || say "    not all files of the replaced release could be stored; those that clients have requested are"
}

# name_replicas CONTAINER...: gives new containers one more name in the inner network: web-set-a or web-set-b, the one
# that no container to be replaced has. They do not run yet, so leaving the network cuts no connection.
name_replicas() {
  # shellcheck disable=SC2046 # a list
  if [ -n "$(named web-set-a $(alive web | without "$(as_wanted web)"))" ]; then name=web-set-b; else name=web-set-a; fi
  for container; do
    options=$(aliases "$container" | sed 's/^/--alias=/')
    docker network disconnect "${COMPOSE_PROJECT_NAME}_inside" "$container" || return
    # shellcheck disable=SC2086 # options
    docker network connect $options --alias="$name" "${COMPOSE_PROJECT_NAME}_inside" "$container" || return
  done
}
aliases() {
  docker inspect "$1" --format "{{with index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_inside\"
    }}{{range .Aliases}}{{println .}}{{end}}{{end}}"
}
# named NAME CONTAINER...: prints those of the containers that have the name.
named() (
  name=$1
  shift
  for container; do ! aliases "$container" | grep -qxF -e "$name" || echo "$container"; done
)

# remove_gracefully CONTAINER...: stops and removes replicas, after the proxy has begun to ask only the others. An app
# that gets SIGTERM goes on with connections that the proxy uses; and it resets idle ones at once, with the form that
# the proxy has just sent.
remove_gracefully() {
  [ $# -gt 0 ] || return 0
  staying=$(alive web | without "$(printf '%s\n' "$@")")
  for name in web-set-a web-set-b; do
    # shellcheck disable=SC2086 # a list
    if [ -z "$staying" ] || [ "$(named "$name" $staying)" != "$staying" ] || [ -n "$(named "$name" "$@")" ]; then
      continue
    fi
    ask_only "$name" 600 || break
    drain
    docker stop "$@" >/dev/null && docker rm "$@" >/dev/null || return
    # `valid` and `resolver_timeout` of proxy/templates/resolver.conf: until then, the proxy still has their addresses.
    ask_only "$name" 7 || true
    return
  done
  # make up has not started all that stay. One after the other, each when the proxy has dropped the previous one: it
  # tries few replicas per page, and stopped ones would be among them.
  while [ $# -gt 0 ]; do
    docker stop "$1" >/dev/null && docker rm "$1" >/dev/null || return
    shift
    [ $# -eq 0 ] || sleep 7
  done
}

# ask_only NAME SECONDS: for so long, the proxy asks only replicas of this name (proxy/templates/asked-replicas.conf).
ask_only() {
  # shellcheck disable=SC2016 # the container's
  docker compose exec -T proxy sh -euc '
    cd /tmp/nginx/only
    echo $(($(date +%s) + $2)) >../only.new
    mv ../only.new "$1"
    find . -type f ! -name "$1" -delete' sh "$@" 2>/dev/null
}

# up_all PROGRESS: starts what does not run and waits until everything is healthy; else prints what failed.
up_all() {
  ! docker compose --progress "$1" up --no-build --wait --wait-timeout 120 --scale "web=$(replicas)" >&2 || return 0
  docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
    while read -r name service state health; do
      case "$state $health" in 'running ' | 'running healthy') continue ;; esac
      message=$(reason "$name")
      [ -z "$message" ] || say "culvert: $service ($state): $message"
    done
  return 1
}

# update_others: starts what no request passes, and stops what the settings no longer include (ACME=off, a SENTRY_DSN).
update_others() {
  up_all quiet || die "not every service runs: the reason is above; what runs keeps serving"
  unused=$(docker compose --profile '*' ps --all --services | grep -x -e acme -e ingest |
    without "$services")
  # shellcheck disable=SC2086
  [ -z "$unused" ] || docker compose --progress quiet --profile '*' rm --force --stop $unused >&2
}
