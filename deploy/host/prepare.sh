# shellcheck shell=sh
# What has to be there before compose can build anything. Sourced after lib.sh, with `here` naming this folder.

# shellcheck disable=SC2154 # the caller's
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 1
. "$here/settings.sh"

step 'Settings' "$here/preflight.sh"
step 'Docker engine' "$here/engine.sh"
step 'Base images' "$here/base-images-ensure.sh"

BUILD_CA_FILE=$(setting BUILD_CA_FILE "$("$here/build-ca.sh")")
SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$("$here/server-actions-key.sh")")
SENTRY_RELEASE=$(setting SENTRY_RELEASE "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || true)")
export BUILD_CA_FILE SERVER_ACTIONS_KEY_FILE SENTRY_RELEASE
