#!/bin/sh
# Replaces what differs from the sources and settings: web, from web/ or WEB_IMAGE, without failing a request, and before it the other
# services that have changed (upgrade.sh). Keeps both images of web for rollback.sh, and watches the new release for BAKE_TIME_S (bake.sh).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"
. "$here/rolling.sh"
. "$here/upgrade.sh"
. "$here/release-list.sh"
. "$here/bake.sh"

build() { docker compose --progress "${PROGRESS:-auto}" build >&2; }

check_bake_settings
repair
find_running
need_proxy
"$here/same-settings.sh"
time=$(now)
begin
step 'Build' build || give_up
proxy=$(docker compose ps --quiet proxy)
before=$(requests "${bake_time_s}s")
list_changed
announce
upgrade
start_release
if [ "$new_image" != "$old_image" ]; then
  # It was started by make up, or put back: a rollback from the new release leads to it, not to what it replaced.
  [ "$(releases | awk 'NR == 1 { print $2 }')" = "$old_image" ] || record "$old_image" "$time"
  record "$new_image" "$(now)"
  forget_oldest
fi
stop_replaced
# The release is watched in any case.
rest_failed=
upgrade_rest || rest_failed=1
[ "$bake_time_s" = 0 ] || watch
[ -z "$rest_failed" ] || die "web was replaced, but not all others that have changed have started: the reason is above"
