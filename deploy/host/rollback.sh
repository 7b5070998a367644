#!/bin/sh
# Puts an earlier release of web back without a build and without failing a request: the one before the running one, so
# that a second rollback goes further back, or RELEASE (make releases lists them), which can be a later one too. Then
# writes it into .env, so that the next make up does not bring the other one back.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh
. deploy/host/releases.sh
. deploy/host/previous.sh
. deploy/host/sets.sh
. deploy/host/replace.sh
. deploy/host/env-file.sh
. deploy/host/build.sh

notify_failures "make rollback"
use_project
repair
running=$(set_of "$WEB_SET" | head -n 1 | xargs -r docker inspect --format '{{.Image}}')
{ runs proxy && [ -n "$running" ]; } || die "rollback: the stack does not run: start it first (make up)"
is_remembered "$running" || remember_web
release=${RELEASE:-$(release_before "$running")}
[ -n "$release" ] || die "rollback: no earlier release is kept: make up keeps the one that it replaces"
# shellcheck disable=SC2046 # RELEASE IMAGE_ID IMAGE SENTRY_RELEASE ...
set -- $(find_release "$release")
[ $# -ge 4 ] || die "RELEASE: '$release' is not kept: make releases lists those that are"
[ "$2" != "$running" ] || die "RELEASE: '$release' is already running: make releases lists the others"
[ -n "$(image_id "$2")" ] || die "RELEASE: the image of '$release' is gone: build or pull $3, and run make up"

# So that compose, here and in later commands, starts this one.
if [ -n "$(setting WEB_IMAGE)" ]; then
  setting=WEB_IMAGE value=$3
  [ "$(image_id "$3")" = "$2" ] || value=$(repository):$release
else
  setting=WEB_TAG value=$release
fi
export "$setting=$value" "SENTRY_RELEASE=${4#-}"
[ "$setting" = WEB_TAG ] || keep_image_settings "$2"

say "==> Back to $release"
# It was good before, whatever the one that runs answers.
ALLOW_CHANGED_ANSWERS=on
undo_at_exit
read_config
step 'Start web' start_set
step 'Replace web' switch_set
undo_release "$running" "$2"
write_setting "$setting" "$value"
! is_saved SENTRY_RELEASE || write_setting SENTRY_RELEASE "$SENTRY_RELEASE"
