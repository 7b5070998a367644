#!/bin/sh
# Brings the stack to what .env and the sources say, on a bare machine too. ARCHITECTURE.md lists its steps.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh
. deploy/host/preflight.sh
. deploy/host/build.sh

# start: starts web, which may take minutes, then the rest. Dies if something is not healthy, or web does not answer.
start() {
  if has_web; then
    docker compose --progress quiet up --detach --no-build --scale "web=$(replicas)" web >&2 || die "$not_started"
    read_stack
    # shellcheck disable=SC2046 # a list
    problem=$(wait_until_healthy $(containers web)) || die "web: $problem: 'make logs' shows more"
  fi
  up_all auto || die "$not_started"
  has_web || return 0
  # shellcheck disable=SC2046 # a list
  problem=$(answer_proxy $(containers web)) || die "web: $problem: 'make logs' shows more"
  say_replaced "$(containers web | head -n 1)"
}
not_started="the stack did not start: the reason is above; 'make logs' shows more, 'make down' removes the containers"

# replace_changed: replaces what has changed of spool, proxy and web. Requests go to the new web last: spool and proxy
# accept what web of the version before sends.
replace_changed() {
  changed=$(for service in proxy web spool; do is_current "$service" || echo "$service"; done)
  [ -n "$changed" ] || say "    up to date: spool proxy$(! has_web || echo " web")"
  # For make rollback: docker compose up, or a make up that was interrupted, has started it.
  is_remembered "$image_before" || ! is_healthy web || remember_web
  step_if_changed proxy 'Try proxy' try_proxy
  step_if_changed web 'Start web' start_set
  step_if_changed spool 'Replace spool' replace spool
  step_if_changed proxy 'Replace proxy' replace proxy
  step_if_changed web 'Replace web' switch_set
}
step_if_changed() { if echo "$changed" | grep -qx "$1"; then shift; step "$@"; fi; }

# start_others: starts what no request passes, and stops what the settings no longer include (ACME=off, a SENTRY_DSN,
# WEB=off).
start_others() {
  up_all quiet || die "not every service runs: the reason is above; what runs keeps serving"
  has_web || end_previous
  for service in acme ingest web; do
    echo "$services" | grep -qx "$service" || [ -z "$(containers "$service")" ] ||
      docker compose --progress quiet --profile '*' rm --force --stop "$service" >/dev/null 2>&1 || true
  done
}

# read_hashes: sets `hashes`, a line SERVICE HASH for each service of the stack, and `services`. compose labels
# containers with these. Before 5.5, `config --hash` leaves out the values of an env_file.
read_hashes() {
  # check_compose has read WEB_SET and WEB_RELEASE from .env.
  ! has_web || [ "$WEB_SET $WEB_RELEASE" = "$(saved WEB_SET) $(saved WEB_RELEASE)" ] || config=$(docker compose config)
  hashes=$(printf '%s\n' "$config" | docker compose --file - config --hash '*')
  services=$(echo "$hashes" | cut -d ' ' -f 1)
}

notify_failures "make up"
step 'Settings' preflight
say_unsaved
prepare_machine
# shellcheck disable=SC2119 # no options
check_compose
say_unread
lock_project
enable_ipv6
repair
repair_at_exit
image_before=$(newest_image)
has_web || [ -z "$image_before" ] ||
  say "    WEB=off: web stops when the proxy no longer asks it, and its pages become 404; queued envelopes stay"
export_build_settings
read_hashes
step 'Build' build
if is_healthy proxy; then
  replace_changed
else
  # A spool that runs holds envelopes of others.
  ! is_healthy spool || is_current spool || step 'Replace spool' replace spool
  step 'Start' start
fi
start_others
if has_web; then
  read_stack
  { [ "$image_before" = "$(newest_image)" ] && is_remembered "$image_before"; } || remember_web
  save_release
fi
keep_changes
deploy/host/summary.sh
