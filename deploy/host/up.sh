#!/bin/sh
# From a clone to a running stack, on a machine that may have nothing yet. Each step is a script that runs alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"
. "$here/settings.sh"

step 'Settings' "$here/preflight.sh"
step 'Docker engine' "$here/engine.sh"
step 'Base images' "$here/base-images-ensure.sh"

BUILD_CA_FILE=$(setting BUILD_CA_FILE "$("$here/build-ca.sh")")
SENTRY_RELEASE=$(setting SENTRY_RELEASE "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || true)")
export BUILD_CA_FILE SENTRY_RELEASE

step 'Build and start' "$here/start.sh"
"$here/summary.sh"
