#!/bin/sh
# Replaces the running web by what the folder or WEB_IMAGE holds now, without a failed request: the new containers come
# first, and the old ones leave once the proxy has found them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"

# Longer than the proxy believes a DNS answer (proxy/entrypoint.d/20-resolver.sh).
FOUND_S=7

# start_new COUNT: starts as many containers of the new release beside those of the old one.
start_new() {
  docker compose --progress "${PROGRESS:-auto}" build web >&2 &&
    docker compose --progress "${PROGRESS:-auto}" up --no-deps --no-recreate --scale "web=$((2 * $1))" --wait web >&2
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
step 'The proxy finds it' sleep "$FOUND_S"
# shellcheck disable=SC2086 # a list
step 'Old release leaves' retire $old
