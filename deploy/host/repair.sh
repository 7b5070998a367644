# shellcheck shell=sh disable=SC2154 # stack: stack.sh
# Repairs what an interrupted command has left: see ARCHITECTURE.md.

# repair: make up and make rollback begin with it, and end with it if they fail.
repair() {
  read_stack
  repair_service spool
  repair_service proxy
  repair_web
  name_images
}

# repair_service SERVICE: of two containers, keeps the new one if it is healthy, else the old one.
repair_service() {
  # shellcheck disable=SC2046 # two ids, the newest first
  set -- $(containers "$1")
  [ $# -gt 1 ] || return 0
  kept=$2 removed=$1
  [ "$(state "$1")" != 'running healthy' ] || kept=$1 removed=$2
  docker rm --force "$removed" >/dev/null
  docker start "$kept" >/dev/null
  wait_until_healthy "$kept" >&2 || true
  read_stack
}

# repair_web: keeps the current set, exports its name as WEB_SET, and stops the other one.
repair_web() {
  WEB_SET=$(current_set)
  export WEB_SET
  [ -n "$(others)" ] || return 0
  ask_only "$WEB_SET" || ! is_healthy proxy || die "$not_told"
  stop_others 5
}

# name_images: a build takes the names of images that still run. This gives the names back.
name_images() {
  running=$(printf '%s\n' "$stack" | alive_lines | cut -d ' ' -f 6,7 | grep " $COMPOSE_PROJECT_NAME-" | sort -u)
  # shellcheck disable=SC2046 # a list
  [ -z "$running" ] ||
    [ "$(image_id $(echo "$running" | cut -d ' ' -f 2))" = "$(echo "$running" | cut -d ' ' -f 1)" ] ||
    echo "$running" | while read -r id name; do docker tag "$id" "$name" 2>/dev/null || true; done
}

# repair_at_exit: repair runs however the script ends. PIPE: `ssh host make up` without a tty.
repair_at_exit() {
  trap 'status=$?; trap "" INT TERM HUP PIPE; (repair) || true; notify_failure "$status"' EXIT
  trap 'exit 130' INT TERM HUP PIPE
}
# keep_changes: ends repair_at_exit.
keep_changes() { trap notify_failure EXIT; trap - INT TERM HUP PIPE; }
