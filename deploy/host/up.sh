#!/bin/sh
# Brings the stack to what .env and the sources say, on a bare machine too. While the proxy runs, a new proxy and a new
# set of web start beside the old ones and are asked; only then is anything replaced, and web without failing a request.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/settings/check.sh
. deploy/host/preflight.sh
. deploy/host/stack.sh
. deploy/host/releases.sh
. deploy/host/previous.sh
. deploy/host/sets.sh
. deploy/host/replace.sh
. deploy/host/env-file.sh
. deploy/host/build.sh
. deploy/host/ipv6.sh

# start: starts the stack and waits until it is healthy, and web answers the proxy.
start() {
  up_all auto || die "the stack did not start: the reason is above;" \
    "'make logs' shows more, 'make down' removes the containers"
  # shellcheck disable=SC2046 # a list
  problem=$(answer_proxy $(containers web)) || die "web: $problem: 'make logs' shows more"
  save_set
}

# release: replaces what has changed of spool, proxy and web. Spool and proxy first: each version accepts what web of
# the version before sends.
release() {
  changed=$(for service in proxy web spool; do is_current "$service" || echo "$service"; done)
  [ -n "$changed" ] || { say "    up to date: spool proxy web"; return; }
  # What make up did not start is not in the file yet. A rollback must not go back to a web that never was healthy.
  is_remembered "$before" || ! runs web || remember_web
  ! is_changed proxy || step 'Start proxy' prepare proxy
  new_proxy=${prepared:-} new_outer=${outer:-}
  ! is_changed web || step 'Start web' start_set
  if is_changed spool; then
    say "    for about a second nothing is queued;" \
      "browsers and web send again what the ingest does not accept meanwhile"
    step 'Replace spool' replace spool
  fi
  if is_changed proxy; then
    say "    connections are refused for about a second, or 5 s longer if responses are still open," \
      "which are cut then"
    prepared=$new_proxy outer=$new_outer
    step 'Replace proxy' swap proxy
  fi
  is_changed web || return 0
  # shellcheck disable=SC2086 # three words
  remember_release $new_release
  step 'Replace web' switch_set
}
is_changed() { echo "$changed" | grep -qx "$1"; }
# is_current SERVICE: whether all its containers are as wanted, or the stack has none.
is_current() {
  ! echo "$services" | grep -qxF -e "$1" ||
    { [ -n "$(alive "$1")" ] && [ "$(as_wanted "$1")" = "$(containers "$1")" ]; }
}
# replace SERVICE: replaces its container, or starts it.
replace() {
  [ -n "$(alive "$1")" ] || { docker compose --progress quiet up --no-build --wait "$1" >&2; return; }
  prepare "$1"
  swap "$1"
}

notify_failures "make up"
step 'Settings' preflight
say_unsaved
say_unread
BUILD_CA_FILE=$(setting BUILD_CA_FILE "$(deploy/bare-machine/machine.sh)")
export BUILD_CA_FILE
check_compose
use_project
enable_ipv6
export_build_settings
repair
before=$(newest_image)
undo_at_exit
read_config
step 'Build' build
if runs proxy; then
  release
else
  # A spool that runs holds envelopes of others.
  ! runs spool || is_current spool || step 'Replace spool' replace spool
  step 'Start' start
fi
update_others
after=$(newest_image)
{ [ "$before" = "$after" ] && is_remembered "$after"; } || remember_web
trap notify_failure EXIT
trap - INT TERM HUP PIPE
deploy/host/summary.sh
