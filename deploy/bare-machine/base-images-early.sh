#!/bin/sh
# Whether the base images can be built while the engine is being installed: on a machine without an engine, where
# packages can be installed and no container registry answers. Installs the tools for it; status 0 if the build can
# start, else 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

REGISTRY=https://registry-1.docker.io/v2/
TIMEOUT_S=5 # for any answer of the registry

# Only an engine knows its mirrors and credentials: if there is one, or a configuration for one, base-images-ensure.sh
# uses it.
! has dockerd && [ ! -e /etc/docker/daemon.json ] && [ -z "${DOCKER_HOST:-}" ] || exit 1
can_install && has curl || exit 1
! curl -sS -o /dev/null --max-time "$TIMEOUT_S" "$REGISTRY" 2>/dev/null || exit 1

# Before the engine's packages, because apt runs once at a time.
# shellcheck disable=SC2046 # npm, or nothing
{ has mmdebstrap && has npm; } || debian_install mmdebstrap debian-archive-keyring $(has npm || echo npm)
