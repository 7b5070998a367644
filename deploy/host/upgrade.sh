# shellcheck shell=sh
# Replaces the services around web whose image or settings have changed since they were started. Sourced after lib.sh and
# rolling.sh.
# shellcheck disable=SC2154

# For open responses of the old proxy, during which nothing listens: event streams and WebSockets do not end by themselves.
DRAIN_S=5

# changed SERVICE HASH: whether compose would start another container than the one that runs, or none runs, or its ports are closed.
changed() {
  current=$(containers "$1" --filter status=running --filter status=restarting --filter status=paused | head -n 1)
  [ -n "$current" ] && { [ "$1" != proxy ] || is_open "$current"; } || return 0
  # shellcheck disable=SC2046 # three words
  set -- "$2" \
    $(docker inspect --format '{{index .Config.Labels "com.docker.compose.config-hash"}} {{.Image}} {{.Config.Image}}' "$current")
  [ "$1" != "$2" ] || [ "$(docker image inspect --format '{{.Id}}' "$4")" != "$3" ]
}

# list_changed: sets `changes` to the changed services without web, in the order in which they are replaced: the spool of a version
# accepts the envelopes of the proxy before it, and the proxy those of web before it (docs/operations.md).
list_changed() {
  changes=
  # Each line: a service and the hash of its settings.
  services=$(docker compose config --hash '*')
  for service in spool proxy $(echo "$services" | cut -d ' ' -f 1 | grep -vx -e web -e spool -e proxy); do
    hash=$(echo "$services" | sed -n "s/^$service //p")
    if [ -n "$hash" ] && changed "$service" "$hash"; then changes="$changes $service"; fi
  done
}

# is_listed SERVICE: whether it is in `changes`.
is_listed() { case " $changes " in *" $1 "*) ;; *) return 1 ;; esac; }

# announce: says what is replaced besides web, and what that costs.
announce() {
  [ -n "$changes" ] || return 0
  say "==> Changed besides web:$changes"
  ! is_listed spool || say "    spool: for a few seconds nothing is queued; browsers and web send again what the ingest does not accept meanwhile"
  ! is_listed proxy || say "    proxy: connections are refused for about a second, or $DRAIN_S s longer if responses are still open, which are cut then"
}

# replace_spool: after a trial with an empty queue. Two spools cannot have the same queue: if the new one does not start with it, such as
# an older version, the old one is started again.
replace_spool() {
  old_spool=$(docker compose ps --all --quiet spool)
  try spool --no-deps --volume /var/lib/spool spool || return
  [ -z "$old_spool" ] || old_spool_image=$(container_image "$old_spool")
  # A signal now would leave no spool: it ends compose, and the old one is started again.
  trap '' INT TERM HUP PIPE
  ! start_spool || { undo_at_exit && return; }
  { [ -n "$old_spool" ] && docker tag "$old_spool_image" "$(project_name)-spool" && start_spool; } ||
    kept='no spool runs, which docker compose logs spool explains; browsers and web send their envelopes again'
  return 1
}
start_spool() {
  docker compose --progress "${PROGRESS:-auto}" up --no-build --no-deps --force-recreate --wait spool >&2 ||
    { say "culvert: spool: $(reason "$(docker compose ps --all --quiet spool)")"; return 1; }
}

# replace_proxy: starts a new one beside the old one, in the inner network, where it needs none of the host's ports. When it is healthy
# it gets the other networks, and with them the ports, as soon as the old one has released them.
replace_proxy() {
  old_proxy=$(docker compose ps --quiet proxy)
  docker compose rm --force proxy >/dev/null 2>&1
  undo_at_exit remove_new_proxy
  start_inside || return
  # A signal now would leave the ports closed: Ctrl-C, or the end of an SSH connection.
  trap '' INT TERM HUP PIPE
  # Ctrl-C ends docker's wait, not the stop.
  docker stop -t "$DRAIN_S" "$old_proxy" >/dev/null || docker wait "$old_proxy" >/dev/null
  if ! publish; then
    remove_new_proxy
    docker start "$old_proxy" >/dev/null
    undo_at_exit
    return 1
  fi
  docker rm "$old_proxy" >/dev/null
  undo_at_exit
}

# web_count: prints the number of web's containers, exited ones included. Compose scales the services that another one depends on as
# well, to one container by default, and would remove a running one to keep one that has exited.
web_count() { containers web | wc -l; }

# start_inside: starts the new proxy without the `networks`, and waits until it is healthy.
start_inside() {
  docker compose --progress "${PROGRESS:-auto}" create --no-build --no-recreate --scale proxy=2 --scale "web=$(web_count)" proxy >&2 || return
  new_proxy=$(containers proxy | grep -vxF "$old_proxy")
  networks=$(docker inspect --format '{{range $name, $network := .NetworkSettings.Networks}}{{$name}}{{range $network.Aliases}} --alias {{.}}{{end}}
{{end}}' "$new_proxy" | grep -v -e "^$(project_name)_inside " -e '^$')
  echo "$networks" | while read -r network _; do docker network disconnect "$network" "$new_proxy" || exit; done || return
  docker start "$new_proxy" >/dev/null || return
  wait_until_healthy proxy "$new_proxy"
}

# publish: connects the new proxy to the `networks` that it lacks; the engine then publishes its ports.
publish() {
  echo "$networks" | while read -r network aliases; do
    # shellcheck disable=SC2086 # options
    docker network connect $aliases "$network" "$new_proxy" || exit
  done && is_open "$new_proxy"
}

# upgrade: replaces what must be replaced before web.
upgrade() {
  kept='the running one keeps serving'
  ! is_listed spool || step 'Replace the spool' replace_spool || give_up_upgrade spool
  ! is_listed proxy || step 'Replace the proxy' replace_proxy || give_up_upgrade proxy
}

# give_up_upgrade SERVICE: dies; what runs keeps running.
give_up_upgrade() { die "the new $1 did not start: the reason is above; $kept"; }

# upgrade_rest: replaces the other changed services, which no request passes.
upgrade_rest() {
  rest=$(echo "$changes" | tr ' ' '\n' | grep -vx -e '' -e spool -e proxy) || return 0
  # shellcheck disable=SC2086 # a list
  step 'Replace the rest' docker compose --progress "${PROGRESS:-auto}" up --no-build --no-deps --wait $rest >&2
}
