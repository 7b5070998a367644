#!/bin/sh
# Makes sure that a Docker engine with compose and buildx answers: uses it, starts it, or installs it (Debian, Ubuntu, as root).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

DOCS=https://docs.docker.com/engine/install/

# engine_answers: whether the engine this shell is pointed at (context, DOCKER_HOST) answers.
engine_answers() { has docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# plugin_answers NAME: whether `docker NAME` exists.
plugin_answers() { has docker && docker "$1" version >/dev/null 2>&1; }

# missing_parts: prints what has to be installed, of: engine compose buildx.
missing_parts() {
  if ! engine_answers && ! has dockerd && ! points_elsewhere; then printf 'engine '; fi
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
    echo "the Docker engine at ${DOCKER_HOST:-context $(docker context show 2>/dev/null)} does not answer: start it (Docker Desktop: open the app), or point DOCKER_HOST / docker context elsewhere"
  elif [ "$(uname -s)" = Darwin ]; then
    echo "the Docker engine is not running: open Docker Desktop (open -a Docker) and try again"
  else
    echo "the Docker engine is not running: start it as root (sudo systemctl start docker, or: sudo dockerd) and try again"
  fi
}

missing=$(missing_parts)
if [ -n "$missing" ]; then
  if ! can_install; then
    die "missing: Docker ${missing% }; needs root on Debian or Ubuntu to be installed by this script: run as root, or install it ($DOCS)"
  fi
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
say "    Docker engine $(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
