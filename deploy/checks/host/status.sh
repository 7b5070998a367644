#!/bin/sh
# The running stack on one screen: versions, containers, memory, dates of the images.
set -eu
cd "$(dirname "$0")/../../.."
. deploy/lib.sh
. deploy/checks/host/facts.sh

need_stack
# in_container SERVICE COMMAND...: prints a command's output, nothing if the container does not run.
in_container() { docker compose exec -T "$@" 2>/dev/null || true; }

row() { name=$1; shift; printf '%-12s %s\n' "$name" "$*"; }

row culvert "$(cat VERSION)$(git describe --always --dirty 2>/dev/null | sed 's/.*/ (&)/')"
row docker "$(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
row nginx "$(docker compose exec -T proxy nginx -v 2>&1 | sed -n 's|^nginx version: nginx/||p')"
next=$(in_container web node -p 'require("next/package.json").version')
row next "$next, node $(in_container web node -p process.version)"
row release "$(in_container web printenv SENTRY_RELEASE)"
echo
docker compose ps --all --format 'table {{.Service}}\t{{.Name}}\t{{.Status}}\t{{.Image}}'
echo
# shellcheck disable=SC2086 # a list
docker stats --no-stream --format 'table {{.Name}}\t{{.MemUsage}}\t{{.MemPerc}}\t{{.CPUPerc}}' $stack_ids
echo
# shellcheck disable=SC2046,SC2086
docker image inspect --format '{{join .RepoTags ", "}} built {{.Created}}' \
  $(docker inspect --format '{{.Image}}' $stack_ids | sort -u) | sed 's/T[^T]*$//'
