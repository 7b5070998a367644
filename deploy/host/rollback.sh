#!/bin/sh
# Puts a release of web back without a build or a failed request: the one before the running one, or RELEASE, an earlier
# or later one of `make releases`. Writes it into .env, so that the next make up does not bring the other one back.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh

notify_failures "make rollback"
lock_project
repair
running=$(image_of "$(set_of "$WEB_SET" | head -n 1)")
{ is_healthy proxy && [ -n "$running" ]; } || die "rollback: the stack does not run: start it first (make up)"
is_remembered "$running" || remember_web
release=${RELEASE:-$(release_before "$running")}
[ -n "$release" ] || die "rollback: no earlier release is kept: make up keeps the one that it replaces"
# shellcheck disable=SC2046 # RELEASE IMAGE_ID IMAGE SENTRY_RELEASE ...
set -- $(find_release "$release")
[ $# -ge 4 ] || die "RELEASE: '$release' is not kept: make releases lists those that are"
[ "$2" != "$running" ] || die "RELEASE: '$release' is already running: make releases lists the others"
[ -n "$(image_id "$2")" ] || die "RELEASE: the image of '$release' is gone: build or pull $3, and run make up"

# So that compose, here and in later commands, starts this one.
pin=WEB_TAG value=$1
if [ -n "$(setting WEB_IMAGE)" ]; then
  pin=WEB_IMAGE value=$3
  [ "$(image_id "$3")" = "$2" ] || value=$(repository):$1
fi
# It was good before, whatever the one that runs answers.
export "$pin=$value" "SENTRY_RELEASE=${4#-}" ALLOW_CHANGED_ANSWERS=on
[ "$pin" = WEB_TAG ] || keep_image_settings "$2"

say "==> Back to $1 ($3, $4)"
undo_at_exit
step 'Start web' start_set
# Before the switch: if this is interrupted, the next make up completes it.
write_setting "$pin" "$value"
! is_saved SENTRY_RELEASE || write_setting SENTRY_RELEASE "${4#-}"
undo_release "$running"
step 'Replace web' switch_set
remember_web
keep_changes
