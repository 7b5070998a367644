#!/bin/sh
# Puts an earlier release of web back without a build and without failing a request: the one that was deployed before the running one,
# so that a second rollback goes further back, or RELEASE (releases.sh lists them), which can be a later one too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
. "$here/lib.sh"
. "$here/settings.sh"
. "$here/rolling.sh"
. "$here/release-list.sh"

repair
find_running
need_proxy
if [ -n "$undone" ] && [ -z "${RELEASE:-}" ]; then
  put_names_back
  say "    The release before the interrupted one serves. 'make rollback' now goes one further back."
  exit
fi
# BAD_IMAGE, from bake.sh: the release to undo. While this waited, another deployment may have replaced it.
[ "${BAD_IMAGE:-$old_image}" = "$old_image" ] || die "rollback: another make deploy or rollback has replaced the bad release"
"$here/same-settings.sh"
tag=${RELEASE:-$(tag_before)}
[ -n "$tag" ] || die "rollback: no earlier release is kept: make deploy keeps the one that it replaces"
image=$(image_of "$tag")
[ -n "$image" ] || die "RELEASE: '$tag' is not kept: make releases lists those that are"
[ "$image" != "$old_image" ] || die "RELEASE: '$tag' is already running: make releases lists the others"

export_build_files
SENTRY_RELEASE=$(name_of "$image")
SENTRY_RELEASE=${SENTRY_RELEASE:-$(setting SENTRY_RELEASE)}
export SENTRY_RELEASE
say "==> Back to $tag${SENTRY_RELEASE:+ ($SENTRY_RELEASE)}"
time=$(now)
begin
docker tag "$image" "$repository"
start_release
# It was started by make up.
[ -n "$(tags_of "$old_image")" ] || record "$old_image" "$time"
forget_oldest
stop_replaced
