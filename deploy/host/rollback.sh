#!/bin/sh
# Puts a release of web back without a build: the one before the running one, or RELEASE, one of `make releases`. Writes
# it into .env, so that the next make up does not bring the other one back.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh

notify_failures "make rollback"
has_web || die "rollback: WEB=off runs no release of web: set WEB=on and run make up first"
lock_project
repair
running=$(image_of "$(set_of "$WEB_SET" | head -n 1)")
{ is_healthy proxy && [ -n "$running" ]; } || die "rollback: the stack does not run: start it first (make up)"
is_remembered "$running" || remember_web
release=${RELEASE:-$(release_before "$running")}
[ -n "$release" ] || die "rollback: no earlier release is kept: make up keeps the one that it replaces"
IFS=$tab read -r tag id image name _ <<LINE
$(find_release "$release")
LINE
[ -n "$name" ] || die "RELEASE: '$release' is not kept: make releases lists those that are"
[ "$id" != "$running" ] || die "RELEASE: '$release' is already running: make releases lists the others"
[ -n "$(image_id "$id")" ] || die "RELEASE: the image of '$release' is gone: build or pull $image, and run make up"

# The setting with which compose starts this release, now and later.
pin=WEB_TAG value=$tag
if [ -n "$(setting WEB_IMAGE)" ]; then
  pin=WEB_IMAGE value=$image
  [ "$(image_id "$image")" = "$id" ] || value=$(repository):$tag
fi
# It was good before.
export "$pin=$value" "SENTRY_RELEASE=${name#-}" "WEB_RELEASE=${name#-}" ALLOW_CHANGED_ANSWERS=on

say "==> Back to $tag ($image, $name)"
repair_at_exit
step 'Start web' start_set
# Before the switch: if this is interrupted, the next make up completes it.
write_setting "$pin" "$value"
! is_saved SENTRY_RELEASE || write_setting SENTRY_RELEASE "${name#-}"
undo_release "$running"
step 'Replace web' switch_set
remember_web
keep_changes
