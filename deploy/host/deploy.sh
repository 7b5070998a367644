#!/bin/sh
# Replaces the running web by the current content of web/ or WEB_IMAGE without failing a request, and keeps both images for rollback.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"
. "$here/ports.sh"
. "$here/reason.sh"
. "$here/rolling.sh"
. "$here/release-list.sh"

build() { docker compose --progress "${PROGRESS:-auto}" build web >&2; }

find_running
need_proxy
# An earlier version's proxy has no /envelopes.
[ "$(docker compose exec -T proxy curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8083/envelopes)" != 404 ] ||
  die "the running proxy is of an earlier version and would reject the new release's server events: run make up, which replaces it as well"
time=$(now)
step 'Build the new release' build || give_up
roll
if [ "$new_image" != "$old_image" ]; then
  # It was started by make up, or put back: a rollback from the new release leads to it, not to what it replaced.
  [ "$(releases | awk 'NR == 1 { print $2 }')" = "$old_image" ] || record "$old_image" "$time"
  record "$new_image" "$(now)"
  forget_oldest
fi
