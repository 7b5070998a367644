# shellcheck shell=sh
# Keeps a release of web that is being replaced, for the pages that are open: one container beside web, for SKEW_KEEP.
# The proxy then sends nothing more there, its health check ends it (docker-compose.yml), and nothing starts it again.
# Sourced after releases.sh.

MIN_FREE_MB=768 # 512 for it, as few of its caches fill, and 256 that must be left

# keep_release CONTAINER: keeps the container's release, in place of one that is kept already, unless it is not healthy,
# or has no deploymentId, which Next's client would ask for. A release that cannot be kept is replaced all the same.
keep_release() {
  end_previous all
  time=$(setting SKEW_KEEP 10m)
  [ "$time" != 0 ] && [ "$(state "$1")" = 'running healthy' ] || return 0
  deployment=$(deployment_of "$1")
  [ -n "$deployment" ] || { say "    open pages get the new release: the old one has no deploymentId"; return; }
  [ "$(free_mb)" -ge "$MIN_FREE_MB" ] || {
    say "    open pages get the new release: less than $MIN_FREE_MB MB of memory are free"
    return
  }
  image=$(image_of "$1") ends=$(($(date +%s) + $(seconds_of "$time")))
  # shellcheck disable=SC2046 # two words
  if ! { start_previous $(releases | awk -v image="$image" '$2 == image { print $1, $4 }') &&
    problem=$(wait_until_healthy "$(containers web-previous)"); }; then
    say "    open pages get the new release: ${problem:-the reason is above}"
    return
  fi
  route_previous "$ends" "$deployment"
  say "    open pages keep their release for $time"
}

# start_previous RELEASE SENTRY_RELEASE: with web's settings of today, and the variables of its own image.
start_previous() (
  docker tag "$image" "$(repository):$1"
  if [ -n "$(setting WEB_IMAGE)" ]; then
    WEB_IMAGE=$(repository):$1
    export WEB_IMAGE
    keep_image_settings "$WEB_IMAGE"
  else
    export WEB_TAG="$1"
  fi
  export SENTRY_RELEASE="${2#-}" WEB_SET=previous
  # What an operator's own compose files add to web is in it.
  file=$(mktemp)
  trap 'rm -f "$file"' EXIT
  docker compose config web >"$file" && PREVIOUS_WEB=$file PREVIOUS_ENDS=$((ends + 15)) \
    docker compose --progress quiet --profile previous up --detach --no-build --no-deps web-previous >&2
)

# route_previous ENDS [DEPLOYMENT]: lets the proxy send the pages of this release there until ENDS.
route_previous() {
  # shellcheck disable=SC2016 # the container's
  in_proxy 'cd /tmp/nginx/sets/web-previous; rm -f -- *; echo "$1" >.ends; [ -z "${2:-}" ] || : >"$2"' sh "$@" || true
}

# end_previous IMAGE_ID: ends the kept release if it has this image, which web has again, or if it has ended; or `all`.
end_previous() {
  for container in $(containers web-previous); do
    case "$1 $(image_of "$container") $(state "$container")" in
      all* | *exited* | "$(image_of "$container") "*) ;;
      *) continue ;;
    esac
    route_previous 0
    case $(state "$container") in running*) drain ;; esac
    { docker stop "$container" && docker rm --volumes "$container"; } >/dev/null || true
  done
}

# drain: gives a busy app the time to read what was sent before the proxy stopped asking it.
drain() { sleep 2; }

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
