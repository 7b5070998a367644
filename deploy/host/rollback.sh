#!/bin/sh
# Puts an earlier release of web back without a build and without failing a request: the one before the running one, so that a second
# rollback goes further back, or RELEASE (make releases lists them), which can be a later one too.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/host/roll.sh

notify_failures "make rollback"
use_project
repair
serves || die "rollback: the stack does not run: start it first (make up)"
running=$(running_image)
# BAD_IMAGE, from watch.sh: the release to undo. While this waited, another command may have replaced it.
[ "${BAD_IMAGE:-$running}" = "$running" ] || die "rollback: another make up or rollback has replaced the bad release"
same_settings
record "$running"
tag=${RELEASE:-$(tag_before "$running")}
[ -n "$tag" ] || die "rollback: no earlier release is kept: make up keeps the one that it replaces"
image=$(release_image "$tag")
[ -n "$image" ] || die "RELEASE: '$tag' is not kept: make releases lists those that are"
[ "$image" != "$running" ] || die "RELEASE: '$tag' is already running: make releases lists the others"

SENTRY_RELEASE=$(label "$image" release)
export SENTRY_RELEASE
say "==> Back to $tag${SENTRY_RELEASE:+ ($SENTRY_RELEASE)}"
undo_at_exit
docker tag "$image" "$(repository)"
step 'Try web' try web
step 'Replace web' roll
# So that the next make up does not bring back what .env and the sources still name.
docker tag "$running" "$(repository):$(undone_tag "$running")"
forget_undone "$image"
