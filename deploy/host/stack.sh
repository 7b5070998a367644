# shellcheck shell=sh
# What Docker says about the stack. Nothing is remembered between two commands but in Docker: labels, image ids, tags
# and health. Sourced after lib.sh, in the repository's root.

# use_project: exports the project's name; waits while another command changes the project, unless flock is missing.
use_project() {
  COMPOSE_PROJECT_NAME=${compose_project:-$(project_name)}
  export COMPOSE_PROJECT_NAME
  has flock || return 0
  mkdir -p .culvert
  exec 9>".culvert/$COMPOSE_PROJECT_NAME.lock"
  flock --nonblock 9 && return
  say "==> Another make up, rollback or backup is running: waiting until it ends"
  flock --timeout 1800 9 || die "another make up, rollback or backup has not ended in 30 minutes"
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

# runs SERVICE: whether one of its containers is healthy.
runs() { [ -n "$(containers "$1" --filter health=healthy)" ]; }

# read_config: sets what compose makes of its files and today's settings: services, and hashes, of each a line.
# shellcheck disable=SC2034 # services: for others
read_config() {
  hashes=$(docker compose config --hash '*')
  services=$(echo "$hashes" | cut -d ' ' -f 1)
}

# as_wanted SERVICE: prints living containers with today's image and settings. without LIST: filters these out.
as_wanted() {
  hash=$(echo "$hashes" | sed -n "s/^$1 //p")
  for container in $(alive "$1"); do
    # shellcheck disable=SC2046 # three words
    set -- $(docker inspect "$container" \
      --format '{{index .Config.Labels "com.docker.compose.config-hash"}} {{.Image}} {{.Config.Image}}')
    [ "$1 $2" != "$hash $(image_id "$3")" ] || echo "$container"
  done
}
without() { grep -vxF -e "$1" || true; }
count() { grep -c . || true; }
image_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null || true; }
image_of() { docker inspect --format '{{.Image}}' "$1"; }
newest_image() { containers web | head -n 1 | xargs -r docker inspect --format '{{.Image}}'; }
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
  unused=$(docker compose --profile '*' ps --all --services | grep -x -e acme -e ingest |
    without "$services")
  # shellcheck disable=SC2086
  [ -z "$unused" ] || docker compose --progress quiet --profile '*' rm --force --stop $unused >&2
}
