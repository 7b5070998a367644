#!/bin/sh
# Prints the path of a Chromium for the tests, or nothing where Playwright should fetch its own (npx playwright install chromium).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

if [ -n "${CHROMIUM_PATH:-}" ]; then
  [ -x "$CHROMIUM_PATH" ] || die "CHROMIUM_PATH: $CHROMIUM_PATH is not a program: give a Chromium's path, or leave it unset"
  printf '%s\n' "$CHROMIUM_PATH"
  exit 0
fi
# Ubuntu's package of that name is a snap, which does not run everywhere.
if ! has chromium && [ "$(distribution)" = debian ] && can_install; then "$here/need.sh" chromium; fi
command -v chromium || true
