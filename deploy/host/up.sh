#!/bin/sh
# Brings the stack to what .env and the sources say, on a bare machine too. While the proxy runs, everything that has
# changed is tried in containers of its own before anything is replaced, and web is replaced without failing a request.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/settings/check.sh
. deploy/host/preflight.sh
. deploy/host/roll.sh
. deploy/host/env-file.sh
. deploy/host/build.sh
. deploy/host/ipv6.sh

# start: starts the stack and waits until it is healthy, and web answers the proxy.
start() {
  up_all auto || die "the stack did not start: the reason is above;" \
    "'make logs' shows more, 'make down' removes the containers"
  # shellcheck disable=SC2046 # a list
  problem=$(wait_until_used $(containers web)) || die "web: $problem: 'make logs' shows more"
}

# replace_changed SERVICE...: replaces what has changed of these, if the stack has them.
replace_changed() {
  changed=''
  for service; do
    echo "$services" | grep -qxF -e "$service" || continue
    [ -n "$(alive "$service")" ] && [ "$(as_wanted "$service")" = "$(containers "$service")" ] ||
      changed="$changed $service"
  done
  [ -n "$changed" ] || { say "    up to date: $*"; return; }
  # What make up did not start is not in the file yet. A rollback must not go back to a web that never was healthy.
  case $changed in
    *web*) is_remembered "$before" || ! runs web || remember_web ;;
  esac
  # shellcheck disable=SC2086 # a list
  step "Try$changed" try_services $changed
  for service in $changed; do
    case $service in
      spool) say "    for about a second nothing is queued;" \
        "browsers and web send again what the ingest does not accept meanwhile" ;;
      proxy) say "    connections are refused for about a second, or 5 s longer if responses are still open," \
        "which are cut then" ;;
    esac
    [ "$service" = web ] || { step "Replace $service" replace_container "$service"; continue; }
    # Before it runs: a rollback after an interruption must know which of two releases is the later one.
    # shellcheck disable=SC2086 # three words
    remember_release $tried_web
    [ "${tried_web%% *}" = "$before" ] || started=${tried_web%% *}
    step 'Replace web' replace_web
  done
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
  # Spool and proxy first: each version accepts what web of the version before sends.
  replace_changed spool proxy web
else
  # A spool that runs holds envelopes of others: it is tried, too, before it is replaced.
  ! runs spool || replace_changed spool
  step 'Start' start
fi
update_others
after=$(newest_image)
{ [ "$before" = "$after" ] && is_remembered "$after"; } || remember_web
trap notify_failure EXIT
trap - INT TERM HUP PIPE
deploy/host/summary.sh
