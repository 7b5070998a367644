#!/bin/sh
# Pulls the missing images of the profile `monitoring`, if it is selected. No Debian or npm package replaces them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"
. "$here/settings.sh"
. "$here/pull.sh"
cd "$root"

case ",$(setting COMPOSE_PROFILES)," in *,monitoring,*) ;; *) exit 0 ;; esac
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for service in prometheus grafana; do
  image=$(docker compose config --images "$service" | head -n 1)
  docker image inspect "$image" >/dev/null 2>&1 || pull "$image" ||
    die "COMPOSE_PROFILES: monitoring needs $image, which the container registry does not provide ($(tail -n 1 "$log" | cut -c 1-200)):" \
      "start without the profile, or carry the image over (docker save, docker load)"
done
