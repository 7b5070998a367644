#!/bin/sh
# Brings the stack to what .env and the sources say, on a bare machine too. While the proxy runs, its new settings are
# tried, and a new set of web starts beside the old one. Only then is anything replaced, web without a failed request.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh
. deploy/host/preflight.sh
. deploy/host/build.sh

# start: starts the stack and waits until it is healthy, and web answers the proxy. First web, on which the proxy waits:
# a first start may take minutes.
start() {
  { start_web && up_all auto; } || die "the stack did not start: the reason is above;" \
    "'make logs' shows more, 'make down' removes the containers"
  # shellcheck disable=SC2046 # a list
  problem=$(answer_proxy $(containers web)) || die "web: $problem: 'make logs' shows more"
  say_replaced "$(containers web | head -n 1)"
}
start_web() {
  docker compose --progress quiet up --detach --no-build --scale "web=$(replicas)" web >&2 || return
  # shellcheck disable=SC2046 # a list
  problem=$(wait_until_healthy $(containers web)) || die "web: $problem: 'make logs' shows more"
}

# replace_changed: replaces what has changed of spool, proxy and web. Requests go to the new web last: spool and proxy
# accept what web of the version before sends.
replace_changed() {
  changed=$(for service in proxy web spool; do is_current "$service" || echo "$service"; done)
  [ -n "$changed" ] || say "    up to date: spool proxy web"
  # What was not started by make up, such as by docker compose up, can be gone back to, too, if it was ever healthy.
  is_remembered "$image_before" || ! is_healthy web || remember_web
  if has_changed proxy; then step 'Try proxy' try_proxy; fi
  if has_changed web; then step 'Start web' start_set; fi
  if has_changed spool; then step 'Replace spool' replace spool; fi
  if has_changed proxy; then step 'Replace proxy' replace proxy; fi
  if has_changed web; then step 'Replace web' switch_set; fi
}
has_changed() { echo "$changed" | grep -qx "$1"; }

notify_failures "make up"
step 'Settings' preflight
say_unsaved
say_unread
prepare_machine
check_compose
lock_project
enable_ipv6
repair
undo_at_exit
image_before=$(newest_image)
export_build_settings
read_config
step 'Build' build
if is_healthy proxy; then
  replace_changed
else
  # A spool that runs holds envelopes of others.
  ! is_healthy spool || is_current spool || step 'Replace spool' replace spool
  step 'Start' start
fi
update_others
{ [ "$image_before" = "$(newest_image)" ] && is_remembered "$image_before"; } || remember_web
save_release
keep_changes
deploy/host/summary.sh
