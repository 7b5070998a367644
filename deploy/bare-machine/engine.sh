#!/bin/sh
# Makes a Docker engine with compose and buildx available: uses a running one, starts it, or installs it (Debian,
# Ubuntu, as root).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

MIN_VERSION=25 # the first with start_interval of health checks
DOCS=https://docs.docker.com/engine/install/

# engine_answers: whether the engine of this shell (context, DOCKER_HOST) answers.
engine_answers() { has docker && docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# plugin_answers NAME: whether `docker NAME` exists.
plugin_answers() { has docker && docker "$1" version >/dev/null 2>&1; }

# engine_installed: whether there is an engine to start, here or behind the client.
engine_installed() {
  has docker && { has dockerd || uses_remote_engine || [ "$(uname -s)" = Darwin ] || engine_answers; }
}

# missing_parts: prints the parts to install: some of engine, compose, buildx.
missing_parts() {
  engine_installed || printf 'engine '
  plugin_answers compose || printf 'compose '
  plugin_answers buildx || printf 'buildx '
}

# uses_remote_engine: whether the client is configured for an engine other than this machine's own.
uses_remote_engine() {
  [ -n "${DOCKER_HOST:-}" ] && return 0
  has docker || return 1
  case $(docker context show 2>/dev/null || echo default) in default) return 1 ;; *) return 0 ;; esac
}

# engine_problem: prints one line: why the engine does not answer, and what to do.
engine_problem() {
  if docker version 2>&1 | grep -qi 'permission denied'; then
    echo "this user may not use the Docker engine: run as root, or add the user to the group 'docker' and log in again"
  elif uses_remote_engine; then
    echo "the Docker engine at ${DOCKER_HOST:-context $(docker context show 2>/dev/null)} does not answer: start it" \
      "(Docker Desktop: open the app), or point DOCKER_HOST / docker context elsewhere"
  elif [ "$(uname -s)" = Darwin ]; then
    echo "the Docker engine is not running: open Docker Desktop (open -a Docker) and try again"
  else
    echo "the Docker engine is not running: start it as root" \
      "(sudo systemctl start docker, or: sudo dockerd) and try again"
  fi
}

# install_hint: prints what to do if this script cannot install Docker.
install_hint() {
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
  can_install || die "Docker is missing (${missing% }): $(install_hint)"
  "$here/engine-install.sh" "$missing"
fi

if ! engine_answers; then
  if is_root && ! uses_remote_engine && has dockerd; then
    "$here/engine-start.sh"
  else
    die "$(engine_problem)"
  fi
fi
engine_answers || die "$(engine_problem)"
version=$(docker version --format '{{.Server.Version}}')
[ "${version%%.*}" -ge "$MIN_VERSION" ] 2>/dev/null ||
  die "Docker engine $version is too old: upgrade it to $MIN_VERSION or newer ($DOCS)"
say "    Docker engine $version, compose $(docker compose version --short)"
