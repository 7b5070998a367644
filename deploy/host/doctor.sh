#!/bin/sh
# Says what is wrong, a line for each check: ✓ fine, ✗ wrong, ? could not be decided. Ends with status 1 when something is wrong.
# Usage: doctor.sh [--json]. PAGE is the page whose trace is followed. With BASE_URL=https://... it checks any deployment from outside;
# then SENTRY_DSN has a probe envelope sent as well, and TUNNEL_PATH is the deployment's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/facts.sh"
cd "$here/../.."

# outside ARGUMENT...: runs the doctor in a container of the image that the spool is built on, in this machine's own network.
outside() {
  image=$(deploy/host/base-images.sh proxy/spool/Dockerfile)
  docker run --rm --network host --user "$(id -u):$(id -g)" --read-only --cap-drop=ALL --security-opt=no-new-privileges \
    --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" \
    --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" \
    --volume "$PWD/proxy/entrypoint.d:/culvert/proxy/entrypoint.d:ro" \
    --env BASE_URL --env PAGE --env SENTRY_DSN --env TUNNEL_PATH \
    "$image" node --disable-warning=ExperimentalWarning /culvert/deploy/doctor/doctor.ts "$@"
}

if [ -n "${BASE_URL:-}" ]; then
  has docker || die "docker: not found: install it"
  outside "$@"
else
  need_stack
  facts | in_stack doctor.ts "$@"
fi
