#!/bin/sh
# Brings the stack to what .env and the sources say, on a bare machine too. While the site runs, everything that has changed is tried in
# containers of its own before anything is replaced, and web is replaced without failing a request.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/host/preflight.sh
. deploy/host/roll.sh
. deploy/host/watch.sh

build() {
  web_image=$(setting WEB_IMAGE)
  docker compose --progress "${PROGRESS:-auto}" build --build-arg "WEB_IMAGE_DIGEST=${web_image:+$(digest_of "$web_image")}" >&2 ||
    die "the build failed: the reason is above; $kept"
  for image in $(docker compose config --images); do
    docker image inspect "$image" >/dev/null 2>&1 || docker pull --quiet "$image" >&2 || die "$image cannot be pulled: the reason is above; $kept"
  done
}

# start: starts the stack and waits until it is healthy, and web answers the proxy.
start() {
  up_all "${PROGRESS:-auto}" || die "the stack did not start: the reason is above; 'make logs' shows more, 'make down' removes the containers"
  # shellcheck disable=SC2046 # a list
  problem=$(wait_until_used $(containers web)) || die "web: $problem: 'make logs' shows more"
}

# change: replaces what has changed, spool and proxy first: each version accepts what web of the version before sends.
change() {
  changed='' services=$(docker compose config --services)
  for service in $(echo "$services" | grep -x -e spool) $(echo "$services" | grep -x -e proxy -e web | sort); do
    [ -n "$(alive "$service")" ] && [ "$(as_wanted "$service")" = "$(containers "$service")" ] || changed="$changed $service"
  done
  [ -n "$changed" ] || { say "    proxy, web and spool are up to date"; return; }
  same_settings
  # What make up did not start has no tag yet.
  case $changed in *web*) [ -z "$before" ] || record "$before" ;; esac
  # shellcheck disable=SC2086 # a list
  step "Try$changed" try $changed
  for service in $changed; do
    case $service in
      spool) say "    for a few seconds nothing is queued; browsers and web send again what the ingest does not accept meanwhile" ;;
      proxy) say "    connections are refused for about a second, or 5 s longer if responses are still open, which are cut then" ;;
    esac
    [ "$service" = web ] || { step "Replace $service" swap "$service"; continue; }
    # Before it runs: a rollback after an interruption must know which of two releases is the later one.
    started=$(image_id "$(repository)")
    record "$started" renew
    [ "$started" = "$before" ] || started_tag=$(tags_of "$started" | head -n 1)
    step 'Replace web' roll
  done
}

notify_failures "make up"
step 'Settings' preflight
BUILD_CA_FILE=$(setting BUILD_CA_FILE "$(deploy/bare-machine/machine.sh)")
export BUILD_CA_FILE
use_project
export_build_settings
repair
before=$(newest_image)
undo_at_exit
step 'Build' build
keep_undone
if serves; then change; else step 'Start' start; fi
rest
after=$(newest_image)
record "$after" renew
trap notify_failure EXIT
trap - INT TERM HUP PIPE
deploy/host/summary.sh
[ -z "$before" ] || [ "$before" = "$after" ] || watch "$after"
