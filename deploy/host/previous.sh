# shellcheck shell=sh
# Keeps a release of web that is being replaced, for the pages that are open: one container beside web, for SKEW_KEEP.
# The proxy then sends nothing more there, its health check ends it (docker-compose.yml), and nothing starts it again.
# Sourced after releases.sh.

MIN_FREE_MB=768 # 512 for it, as few of its caches fill, and 256 that must be left

# keep_release CONTAINER: keeps the container's release, unless it is not healthy, or has no deploymentId, which Next's
# client would ask for. A release that cannot be kept is replaced all the same.
keep_release() {
  time=$(setting SKEW_KEEP 10m)
  [ "$time" != 0 ] || { end_previous all; return; }
  image=$(image_of "$1")
  [ "$(state "$1")" = 'running healthy' ] || return 0
  deployment=$(deployment_of "$1")
  [ -n "$deployment" ] || { say "    open pages get the new release: the old one has no deploymentId"; return; }
  [ "$(free_mb)" -ge "$MIN_FREE_MB" ] || {
    say "    open pages get the new release: less than $MIN_FREE_MB MB of memory are free"
    return
  }
  slot=$(free_slot) ends=$(($(date +%s) + $(seconds_of "$time")))
  # shellcheck disable=SC2046 # two words
  if ! { start_previous "$slot" $(releases | awk -v image="$image" '$2 == image { print $1, $4 }') &&
    problem=$(wait_until_healthy "$(containers web-previous | head -n 1)"); }; then
    say "    open pages get the new release: ${problem:-the reason is above}"
    return
  fi
  route_to_slot "$slot" "$ends" "$deployment"
  say "    open pages keep their release for $time"
}

# start_previous SLOT RELEASE SENTRY_RELEASE: with web's settings of today, and the variables of its own image.
start_previous() (
  docker tag "$image" "$(repository):$2"
  if [ -n "$(setting WEB_IMAGE)" ]; then
    WEB_IMAGE=$(repository):$2
    export WEB_IMAGE
    keep_image_settings "$WEB_IMAGE"
  else
    export WEB_TAG="$2"
  fi
  export SENTRY_RELEASE="${3#-}"
  # What an operator's own compose files add to web is in it.
  file=$(mktemp)
  trap 'rm -f "$file"' EXIT
  docker compose config web >"$file" &&
    PREVIOUS_WEB=$file PREVIOUS_SLOT=$1 PREVIOUS_ENDS=$((ends + 15)) \
      docker compose --progress quiet --profile previous up --detach --no-build --no-deps --no-recreate --scale \
      "web-previous=$(($(containers web-previous | count) + 1))" web-previous >&2
)

# route_to_slot SLOT ENDS [DEPLOYMENT]: lets the proxy send the pages of this release there until ENDS.
route_to_slot() {
  # shellcheck disable=SC2016 # the container's
  docker compose exec -T proxy sh -euc '
    cd "/tmp/nginx/releases/${1:?}"; rm -f -- *; echo "$2" >.ends
    [ -z "${3:-}" ] || : >"$3"' sh "$@" 2>/dev/null || true
}

# free_slot: prints 1 or 2, after it has removed what had it: an ended release, or else the older one.
free_slot() {
  end_previous none
  taken=$(for container in $(containers web-previous); do slot_of "$container"; done)
  case $(echo "$taken" | count) in
    0) echo 1 ;;
    1) echo $((3 - taken)) ;;
    *) end_container "$(containers web-previous | tail -n 1)"; echo "$taken" | tail -n 1 ;;
  esac
}
slot_of() { docker inspect --format '{{index .Config.Labels "culvert.slot"}}' "$1"; }

# end_previous IMAGE_ID|all: ends the kept containers of this image, because web runs it again, or all of them. Removes
# ended ones.
end_previous() {
  for container in $(containers web-previous); do
    case "$1 $(state "$container")" in
      all* | *exited*) end_container "$container" ;;
      *) [ "$(image_of "$container")" != "$1" ] || end_container "$container" ;;
    esac
  done
}

# drain: gives a busy app the time to read what was sent before the proxy stopped asking it.
drain() { sleep 2; }

# end_container CONTAINER: when no more requests are sent to it.
end_container() {
  route_to_slot "$(slot_of "$1")" 0
  case $(state "$1") in running*) drain ;; esac
  { docker stop "$1" && docker rm --volumes "$1"; } >/dev/null || true
}

# deployment_of CONTAINER: prints the deploymentId of its build, if any.
deployment_of() {
  docker cp "$1:/app/.next/required-server-files.json" - 2>/dev/null | tar -xO 2>/dev/null | tr -d '\n' |
    grep -oE '"deploymentId": *"[A-Za-z0-9_-]{1,64}"' | head -n 1 | sed 's/.*"\(.*\)"/\1/'
}

free_mb() { awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo "$MIN_FREE_MB"; }

# seconds_of TIME: prints it in seconds.
seconds_of() {
  case $1 in *m) factor=60 ;; *h) factor=3600 ;; *) factor=1 ;; esac
  echo $((${1%[smh]} * factor))
}
