# shellcheck shell=sh disable=SC2154 # tab: releases.sh
# Keeps a replaced release of web for the pages that are open: one container, web-previous. When SKEW_KEEP is over, its
# health check ends it (docker-compose.yml).

MIN_FREE_MB=768 # 512 for web-previous, 256 for the rest

# keep_release CONTAINER: keeps its release, if it can, instead of an earlier one. Without a deploymentId, pages do not
# ask for their release.
keep_release() {
  end_previous
  time=$(setting SKEW_KEEP)
  [ "$time" != 0 ] && [ "$(state "$1")" = 'running healthy' ] || return 0
  deployment=$(deployment_of "$1") ends=$(($(date +%s) + $(seconds_of SKEW_KEEP "$time"))) problem=
  if [ -z "$deployment" ]; then
    problem='the old one has no deploymentId'
  elif [ "$(free_mb)" -lt "$MIN_FREE_MB" ]; then
    problem="less than $MIN_FREE_MB MB of memory are free"
  elif start_previous "$(image_of "$1")" "$ends" && read_stack &&
    problem=$(wait_until_healthy "$(containers web-previous)"); then
    route_previous "$ends" "$deployment"
    say "    open pages keep their release for $time"
    return
  fi
  say "    open pages get the new release: ${problem:-the reason is above}"
}

# start_previous IMAGE_ID ENDS: starts web-previous with web's settings of today.
start_previous() (
  IFS=$tab read -r tag _ _ name _ <<LINE
$(releases | awk -F '\t' -v image="$1" '$2 == image')
LINE
  export WEB_TAG="$tag" WEB_SET=previous SENTRY_RELEASE="${name#-}" WEB_RELEASE="${name#-}"
  [ -z "$(setting WEB_IMAGE)" ] || { WEB_IMAGE=$(repository):$tag; export WEB_IMAGE; }
  # With what an operator's own compose files add to web.
  file=$(mktemp)
  trap 'rm -f "$file"' EXIT
  docker compose config web >"$file" && PREVIOUS_WEB=$file PREVIOUS_ENDS=$(($2 + 15)) \
    docker compose --progress quiet --profile previous up --detach --no-build --no-deps web-previous >&2
)

# route_previous ENDS [DEPLOYMENT]: lets the proxy send the pages of this release there until ENDS.
route_previous() {
  # shellcheck disable=SC2016 # the container's
  in_sets 'cd web-previous; rm -f -- *; echo "$1" >.ends; [ -z "${2:-}" ] || : >"$2"' "$@" || true
}

# end_previous: removes web-previous, running or not.
end_previous() {
  kept=$(containers web-previous)
  [ -n "$kept" ] || return 0
  route_previous 0
  drain
  # shellcheck disable=SC2086 # a list
  { docker stop $kept && docker rm --volumes $kept; } >/dev/null || true
}

# deployment_of CONTAINER: prints the deploymentId of its build, if any.
deployment_of() {
  docker cp "$1:/app/.next/required-server-files.json" - 2>/dev/null | tar -xO 2>/dev/null | tr -d '\n' |
    grep -oE '"deploymentId": *"[A-Za-z0-9_-]{1,64}"' | head -n 1 | sed 's/.*"\(.*\)"/\1/'
}

free_mb() { awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null || echo "$MIN_FREE_MB"; }

# seconds_of NAME TIME: prints the value of this setting in seconds, or dies.
seconds_of() {
  case $2 in
    0) echo 0 ;;
    0* | *[!0-9]*[smh] | [smh] | ????*[smh] | *[!smh])
      die "$1: '$2' is not a time: use a number up to 999 and a unit (s, m, h), or 0" ;;
    *s) echo "${2%s}" ;;
    *m) echo $((${2%m} * 60)) ;;
    *h) echo $((${2%h} * 3600)) ;;
  esac
}
