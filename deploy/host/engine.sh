#!/bin/sh
# Makes sure that a Docker engine with compose and buildx answers: uses it, starts it, or installs it (Debian, Ubuntu, as root).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

FLOOR=25 # the first that knows start_interval of health checks
DOCS=https://docs.docker.com/engine/install/

# engine_answers: whether the engine this shell is pointed at (context, DOCKER_HOST) answers.
engine_answers() { has docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# plugin_answers NAME: whether `docker NAME` exists.
plugin_answers() { has docker && docker "$1" version >/dev/null 2>&1; }

# engine_installed: whether there is an engine to start, here or behind the client.
engine_installed() {
  has docker && { has dockerd || points_elsewhere || [ "$(uname -s)" = Darwin ] || engine_answers; }
}

# missing_parts: prints what has to be installed, of: engine compose buildx.
missing_parts() {
  engine_installed || printf 'engine '
  plugin_answers compose || printf 'compose '
  plugin_answers buildx || printf 'buildx '
}

# points_elsewhere: whether the client is told to use an engine that is not this machine's own.
points_elsewhere() {
  [ -n "${DOCKER_HOST:-}" ] && return 0
  has docker || return 1
  case $(docker context show 2>/dev/null || echo default) in default) return 1 ;; *) return 0 ;; esac
}

# why_unusable: prints one line: why the engine does not answer, and what to do.
why_unusable() {
  if docker version 2>&1 | grep -qi 'permission denied'; then
    echo "this user may not use the Docker engine: run as root, or add the user to the group 'docker' and log in again"
  elif points_elsewhere; then
    echo "the Docker engine at ${DOCKER_HOST:-context $(docker context show 2>/dev/null)} does not answer: start it" \
      "(Docker Desktop: open the app), or point DOCKER_HOST / docker context elsewhere"
  elif [ "$(uname -s)" = Darwin ]; then
    echo "the Docker engine is not running: open Docker Desktop (open -a Docker) and try again"
  else
    echo "the Docker engine is not running: start it as root (sudo systemctl start docker, or: sudo dockerd) and try again"
  fi
}

# how_to_get: prints what to do where this script may not install.
how_to_get() {
  if [ "$(uname -s)" = Darwin ]; then
    echo "install Docker Desktop (https://docs.docker.com/desktop/), open it and try again"
  elif [ -n "$(distribution)" ]; then
    echo "run 'sudo make up', which installs it from $(distribution)'s packages, or install it yourself ($DOCS)"
  else
    echo "install it with its compose and buildx plugins ($DOCS)"
  fi
}

missing=$(missing_parts)
if [ -n "$missing" ]; then
  can_install || die "Docker is missing (${missing% }): $(how_to_get)"
  "$here/engine-install.sh" "$missing"
fi

if ! engine_answers; then
  if is_root && ! points_elsewhere && has dockerd; then
    "$here/engine-start.sh"
  else
    die "$(why_unusable)"
  fi
fi
engine_answers || die "$(why_unusable)"
version=$(docker version --format '{{.Server.Version}}')
[ "${version%%.*}" -ge "$FLOOR" ] 2>/dev/null || die "Docker engine $version is too old: upgrade it to $FLOOR or newer ($DOCS)"
say "    Docker engine $version, compose $(docker compose version --short)"
