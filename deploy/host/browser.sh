#!/bin/sh
# Prints the path of a Chromium for the tests, or nothing if Playwright should download its own (npx playwright install chromium).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"

if [ -n "${CHROMIUM_PATH:-}" ]; then
  [ -x "$CHROMIUM_PATH" ] || die "CHROMIUM_PATH: $CHROMIUM_PATH is not executable: set it to the path of a Chromium, or unset it"
  printf '%s\n' "$CHROMIUM_PATH"
  exit 0
fi
# Ubuntu's package is a snap, which does not run on every machine.
if ! has chromium && [ "$(distribution)" = debian ] && can_install; then "$here/need.sh" chromium; fi
command -v chromium || true
