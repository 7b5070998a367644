#!/bin/sh
# Replaces the running web by what the folder or WEB_IMAGE holds now, without a failed request: the new containers come
# first, and the old ones leave once the proxy has found them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"

PATIENCE_S=60 # until the proxy has found a new container; it asks DNS every few seconds

# start_new COUNT: starts as many containers of the new release beside those of the old one.
start_new() {
  docker compose --progress "${PROGRESS:-auto}" build web >&2 &&
    docker compose --progress "${PROGRESS:-auto}" up --no-deps --no-recreate --scale "web=$((2 * $1))" --wait web >&2
}

# found CONTAINER...: waits until the proxy has sent a request to each of them.
found() {
  asked=0
  for container in "$@"; do
    address=$(docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$container")
    until docker compose exec -T proxy curl -s -o /dev/null -D - http://127.0.0.1:8081/web | grep -qi "^x-web:.*$address:"; do
      asked=$((asked + 1))
      [ "$asked" -lt $((PATIENCE_S * 4)) ] || die "the proxy did not find $container: docker compose logs proxy"
      sleep 0.25
    done
  done
}

# retire CONTAINER...: lets each end what it is doing, within compose's stop_grace_period, and removes it.
retire() {
  docker stop "$@" >/dev/null && docker rm "$@" >/dev/null
}

old=$(docker compose ps --quiet web)
[ -n "$old" ] || die "nothing runs that could be replaced: start the stack first (make up)"
count=$(echo "$old" | wc -l)

if ! step 'New release' start_new "$count"; then
  # The old release has served all the while; what did not get healthy goes.
  for container in $(docker compose ps --all --quiet web); do
    case $old in *"$container"*) ;; *)
      say "culvert: web: $(docker logs --tail 1 "$container" 2>&1)"
      docker rm --force "$container" >/dev/null
      ;;
    esac
  done
  die "the new release did not start: the reason is above; the old one serves on"
fi
new=$(docker compose ps --quiet web | grep -vxF "$old")
# shellcheck disable=SC2086 # a list
step 'The proxy finds it' found $new
# shellcheck disable=SC2086
step 'Old release leaves' retire $old
