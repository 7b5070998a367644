#!/bin/sh
# Replaces the running web by what the folder or WEB_IMAGE holds now, without a failed request: the new containers come
# first, and the old ones leave once the proxy has found them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"
. "$here/reason.sh"

PATIENCE_S=60 # until the proxy has found a new container; it asks DNS every few seconds

# starts: runs the new release once where nobody asks it, until it is healthy. One that ends at its start may have listened before,
# and a form that it had taken is not sent twice: it must not get the service's name.
starts() {
  docker compose --progress "${PROGRESS:-auto}" build web >&2 || return
  trial=$(docker compose run --detach --no-deps web) || return
  trap 'docker rm --force "$trial" >/dev/null' EXIT
  while state=$(state "$trial" || true) && [ "$state" != 'running healthy' ]; do
    case $state in *starting) sleep 0.25 ;; *)
      say "culvert: web: $(reason "$trial")"
      return 1
      ;;
    esac
  done
  docker rm --force "$trial" >/dev/null
  trap - EXIT
}
state() { docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$1"; }

# start_new COUNT: starts as many containers of the new release beside those of the old one. One that has died would be
# started again, as the old release that it is: it goes first.
start_new() {
  docker compose rm --force web >/dev/null 2>&1 &&
    docker compose --progress "${PROGRESS:-auto}" up --no-deps --no-recreate --scale "web=$((2 * $1))" --wait web >&2
}

# address CONTAINER: prints its address in the network that the proxy shares with it.
address() {
  docker inspect --format '{{(index .NetworkSettings.Networks (printf "%s_inside" (index .Config.Labels "com.docker.compose.project"))).IPAddress}}' "$1"
}

# found CONTAINER...: waits until the proxy has sent a request to each of them.
found() {
  asked=0
  for container in "$@"; do
    address=$(address "$container")
    until docker compose exec -T proxy curl -s -o /dev/null -D - http://127.0.0.1:8081/web | grep -qi "^x-web:.* $address:"; do
      asked=$((asked + 1))
      [ "$asked" -lt $((PATIENCE_S * 4)) ] || die "the proxy did not find $container: docker compose logs proxy"
      sleep 0.25
    done
  done
}

# keep_files CONTAINER: has the proxy ask for every hashed file of this release, in each encoding that it stores, so that its
# pages find also those that nobody has needed yet. An app that keeps them elsewhere has those that were asked for.
keep_files() {
  list='fs.readdirSync("/app/.next/static", { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    .map((entry) => entry.parentPath.slice(11) + "/" + entry.name).join("\n")'
  # shellcheck disable=SC2016 # the container's variables
  docker exec "$1" node -p "$list" 2>/dev/null | docker compose exec -T proxy sh -c '
    [ "${PROXY_PROTOCOL:-off}" = off ] || set -- --haproxy-protocol
    while read -r file; do
      for encoding in br gzip identity; do
        curl -sk -o /dev/null "$@" -H "Accept-Encoding: $encoding" "https://127.0.0.1:8443${BASE_PATH:-}/_next/$file" </dev/null
      done
    done' || say "    not all were taken; those that visitors have asked for stay"
}

# forgotten: waits until the proxy has asked DNS again, which no longer names what has left.
forgotten() {
  valid=$(docker compose exec -T proxy sed -n 's/.* valid=\([0-9]*\)s.* resolver_timeout \([0-9]*\)s.*/\1 + \2/p' /tmp/nginx/resolver.conf)
  sleep "$((${valid:-7}))"
}

# retire CONTAINER...: lets each end what it is doing, within compose's stop_grace_period, and removes it. One after the other, and the
# next only when the proxy has forgotten the one before: it tries few replicas for a page, and those that have left would be among them.
retire() {
  while [ $# -gt 0 ]; do
    docker stop "$1" >/dev/null && docker rm "$1" >/dev/null || return
    shift
    [ $# -eq 0 ] || forgotten
  done
}

old=$(docker compose ps --quiet web)
[ -n "$old" ] || die "nothing runs that could be replaced: start the stack first (make up)"
count=$(echo "$old" | wc -l)
# Else the new release would be started in vain: the proxy could never find it.
[ -n "$(address "$(docker compose ps --quiet proxy)" 2>/dev/null)" ] ||
  die "the proxy does not run, or was started by a version with other networks: make down, then make up"

unfit="the new release did not start: the reason is above; the old one serves on"
step 'New release, tried out' starts || die "$unfit"
if ! step 'New release' start_new "$count"; then
  # The old release has served all the while; what did not get healthy goes.
  for container in $(docker compose ps --all --quiet web); do
    case $old in *"$container"*) ;; *)
      say "culvert: web: $(reason "$container")"
      docker rm --force "$container" >/dev/null
      ;;
    esac
  done
  die "$unfit"
fi
new=$(docker compose ps --quiet web | grep -vxF "$old")
# shellcheck disable=SC2086 # a list
step 'The proxy finds it' found $new
step 'Its predecessor'"'"'s files stay' keep_files "$(echo "$old" | head -n 1)"
# shellcheck disable=SC2086
step 'Old release leaves' retire $old
