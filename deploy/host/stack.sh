# shellcheck shell=sh disable=SC2034,SC2154 # hashes: up.sh
# What runs. Sourced after lib.sh, in the repository's root.

unchanged='nothing was replaced, what runs keeps serving'

. deploy/host/env-file.sh
. deploy/host/releases.sh
. deploy/host/previous.sh
. deploy/host/sets.sh
. deploy/host/replace.sh
. deploy/host/repair.sh

# lock_project: exports the project's name, and waits until no other command changes the project, if there is flock.
lock_project() {
  COMPOSE_PROJECT_NAME=$(project_name)
  export COMPOSE_PROJECT_NAME
  mkdir -p .culvert
  has flock || return 0
  exec 9>".culvert/$COMPOSE_PROJECT_NAME.lock"
  flock --nonblock 9 && return
  say "==> Another make up or rollback is running: waiting until it ends"
  flock --timeout 1800 9 || die "another make up or rollback has not ended in 30 minutes"
}

# read_stack: sets `stack`, which the functions below read: a line for each container of the project, the newest first,
# exited ones too, not of compose run: ID SERVICE STATE HEALTH CONFIG_HASH IMAGE_ID IMAGE [SET]. What creates or removes
# containers calls it again. (.Id instead of .ID fails without a health check.)
read_stack() {
  label='{{index .Config.Labels'
  # shellcheck disable=SC2015,SC2086 # if one of both fails; a list
  ids=$(docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter label=com.docker.compose.oneoff=False) &&
    stack=$([ -z "$ids" ] || docker inspect $ids --format "{{.ID}} $label \"com.docker.compose.service\"}} {{
      .State.Status}} {{with .State.Health}}{{.Status}}{{else}}-{{end}} $label \"com.docker.compose.config-hash\"}} {{
      .Image}} {{.Config.Image}} $label \"culvert.set\"}}") || die "Docker does not list the containers of this project"
}

# containers SERVICE, alive SERVICE: prints the ids of all its containers, or of those that run or are started again.
containers() { lines_of "$1" | cut -d ' ' -f 1; }
alive() { lines_of "$1" | alive_lines | cut -d ' ' -f 1; }
lines_of() { printf '%s\n' "$stack" | awk -v service="$1" '$2 == service'; }
alive_lines() { awk '$3 ~ /^(running|restarting|paused)$/'; }

# is_healthy SERVICE: whether one of its containers is.
is_healthy() { lines_of "$1" | grep -q ' running healthy '; }

# image_of CONTAINER, newest_image: prints the image id of a container, or of the newest one of web.
image_of() { printf '%s\n' "$stack" | awk -v id="$1" '$1 == id { print $6 }'; }
newest_image() { lines_of web | awk 'NR == 1 { print $6 }'; }

# is_current SERVICE: whether all its containers run with today's image and settings, or the stack has no such service.
is_current() {
  hash=$(printf '%s\n' "$hashes" | sed -n "s/^$1 //p")
  [ -n "$hash" ] || return 0
  [ -n "$(alive "$1")" ] && [ "$(alive "$1")" = "$(containers "$1")" ] || return 1
  # shellcheck disable=SC2046 # a list
  [ "$(lines_of "$1" | cut -d ' ' -f 5,6 | sort -u)" = \
    "$hash $(image_id $(lines_of "$1" | cut -d ' ' -f 7 | sort -u))" ]
}

count() { grep -c . || true; }
image_id() { docker image inspect --format '{{.Id}}' "$@" 2>/dev/null || true; }
inner_address() {
  docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_inside\").IPAddress}}" "$1"
}

# up_all PROGRESS: starts what does not run and waits until everything is healthy; else prints what failed.
up_all() {
  # shellcheck disable=SC2046 # two words, or none
  ! docker compose --progress "$1" up --no-build --wait --wait-timeout 120 \
    $(has_web && echo --scale "web=$(replicas)") >&2 || return 0
  docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
    while read -r name service state health; do
      case "$state $health" in 'running ' | 'running healthy') continue ;; esac
      message=$(reason "$name")
      [ -z "$message" ] || say "culvert: $service ($state): $message"
    done
  return 1
}
