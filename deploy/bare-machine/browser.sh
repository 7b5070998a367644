#!/bin/sh
# Prints the path of a Chromium for the tests, or nothing if Playwright should download its own (npx playwright install
# chromium).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

if [ -n "${CHROMIUM_PATH:-}" ]; then
  [ -x "$CHROMIUM_PATH" ] ||
    die "CHROMIUM_PATH: $CHROMIUM_PATH is not executable: set it to the path of a Chromium, or unset it"
  printf '%s\n' "$CHROMIUM_PATH"
  exit 0
fi
both() { has chromium && has chromium-headless-shell; }
# Ubuntu's package is a snap, which does not run on every machine.
if ! both && [ "$(distribution)" = debian ] && can_install; then
  say "    installing chromium"
  # The tests also run without the shell.
  (debian_install chromium chromium-headless-shell) 2>/dev/null || "$here/need.sh" chromium
fi
# The headless shell is the same engine without windows and profiles, and takes a third of the processor time.
if both; then command -v chromium-headless-shell; else command -v chromium || true; fi
