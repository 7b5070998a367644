# shellcheck shell=sh disable=SC2034
# What Docker says about the stack. Nothing is remembered between two commands but in Docker: labels, image ids, tags
# and health. Sourced after lib.sh, in the repository's root; it sources what changes the stack.

. deploy/host/env-file.sh
. deploy/host/releases.sh
. deploy/host/previous.sh
. deploy/host/sets.sh
. deploy/host/replace.sh

unchanged='nothing was replaced, what runs keeps serving'

# lock_project: exports the project's name; waits while another command changes the project, unless flock is missing.
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

# containers SERVICE [OPTION...]: prints a service's containers, newest first: exited ones too, not of compose run.
containers() {
  of=$1
  shift
  docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter "label=com.docker.compose.service=$of" --filter label=com.docker.compose.oneoff=False "$@"
}

# alive SERVICE [OPTION...]: prints those that run, or are started again by the engine.
alive() { containers "$@" --filter status=running --filter status=restarting --filter status=paused; }

# is_healthy SERVICE: whether one of its containers is.
is_healthy() { [ -n "$(containers "$1" --filter health=healthy)" ]; }

# read_config: sets what compose makes of its files and today's settings: services, and hashes, of each a line. Before
# 5.5, its hash leaves out what an env_file sets, unless it is in the file.
read_config() {
  hashes=$(docker compose config | docker compose --file - config --hash '*')
  services=$(echo "$hashes" | cut -d ' ' -f 1)
}

# is_current SERVICE: whether all its containers run with today's image and settings, or it is no part of the stack.
is_current() {
  hash=$(echo "$hashes" | sed -n "s/^$1 //p")
  [ -n "$hash" ] || return 0
  [ -n "$(alive "$1")" ] || return 1
  for container in $(containers "$1"); do
    # shellcheck disable=SC2046 # four words
    set -- $(docker inspect "$container" --format \
      '{{index .Config.Labels "com.docker.compose.config-hash"}} {{.Image}} {{.Config.Image}} {{.State.Status}}')
    case "$1 $2 $4" in "$hash $(image_id "$3") "[rp]*) ;; *) return 1 ;; esac
  done
}
count() { grep -c . || true; }
image_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }
image_of() { docker inspect --format '{{.Image}}' "$1" 2>/dev/null || true; }
newest_image() { image_of "$(containers web | head -n 1)"; }
inner_address() {
  docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_inside\").IPAddress}}" "$1"
}

# up_all PROGRESS: starts what does not run and waits until everything is healthy; else prints what failed.
up_all() {
  ! docker compose --progress "$1" up --no-build --wait --wait-timeout 120 --scale "web=$(replicas)" >&2 || return 0
  docker compose ps --all --format '{{.Name}} {{.Service}} {{.State}} {{.Health}}' |
    while read -r name service state health; do
      case "$state $health" in 'running ' | 'running healthy') continue ;; esac
      message=$(reason "$name")
      [ -z "$message" ] || say "culvert: $service ($state): $message"
    done
  return 1
}

# update_others: starts what no request passes, and stops what the settings no longer include (ACME=off, a SENTRY_DSN).
update_others() {
  up_all quiet || die "not every service runs: the reason is above; what runs keeps serving"
  for service in acme ingest; do
    echo "$services" | grep -qx "$service" ||
      docker compose --progress quiet --profile '*' rm --force --stop "$service" >/dev/null 2>&1 || true
  done
}
