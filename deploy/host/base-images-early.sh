#!/bin/sh
# Whether the base images can be built while the engine is still being installed: on a machine that has no engine, may install
# packages and reaches no container registry. Ends with status 0 once all is there to begin, else 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

REGISTRY=https://registry-1.docker.io/v2/
TIMEOUT_S=5 # for the registry's first answer, whatever it is

# Only an engine knows its mirrors and credentials: where there is one, or settings for one, it is asked (base-images-ensure.sh).
! has dockerd && [ ! -e /etc/docker/daemon.json ] && [ -z "${DOCKER_HOST:-}" ] || exit 1
can_install && has curl || exit 1
! curl -sS -o /dev/null --max-time "$TIMEOUT_S" "$REGISTRY" 2>/dev/null || exit 1

# Before the engine's packages: apt does one thing at a time.
# shellcheck disable=SC2046 # a list, mostly empty
{ has mmdebstrap && has npm; } || debian_install mmdebstrap debian-archive-keyring $(has npm || echo npm)
