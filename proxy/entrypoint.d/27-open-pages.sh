#!/bin/sh
# OPEN_PAGES_PER_REPLICA, off by default: an app whose pages wait for other services has many open at a time, and is not overloaded.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/render.sh"

if ! check_limit OPEN_PAGES_PER_REPLICA "$OPEN_PAGES_PER_REPLICA" "open pages" 65535; then
  leave_out open-pages.conf
  leave_out routes/open-pages.conf
  exit 0
fi
export OPEN_PREFETCHES_PER_REPLICA=$(((OPEN_PAGES_PER_REPLICA + 3) / 4))
render open-pages.conf
