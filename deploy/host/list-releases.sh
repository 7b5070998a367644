#!/bin/sh
# Lists the releases of web that make rollback can put back, the last deployed first, and which one runs.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/host/stack.sh

has_web || { say "WEB=off runs no release of web"; exit; }
COMPOSE_PROJECT_NAME=$(project_name)
read_stack
running=$(image_of "$(set_of "$(current_set)" | head -n 1)")
kept=$(lines_of web-previous | alive_lines)

row() { printf '%-12s  %-40s  %-24s  %s\n' "$@"; }
row RELEASE IMAGE SENTRY_RELEASE 'DEPLOYED (UTC)'
releases | sort -r -t "$tab" -k 5 | while IFS=$tab read -r release image name sentry_release time mark; do
  [ -n "$(image_id "$image")" ] || mark='its image is gone'
  [ "$image" != "$running" ] || mark=running
  case $kept in *"$image"*) mark="${mark:+$mark, }for open pages" ;; esac
  row "$release" "$name" "$sentry_release" "$time${mark:+  $mark}"
done
