# shellcheck shell=sh
# Functions that the scripts of this folder share. Sourced. Nothing here uses deploy/host: it is called, and calls
# nobody.

# Debian's PATH of a normal user lacks these.
PATH=$PATH:/usr/sbin:/sbin

# say, die, has: as in deploy/lib.sh.
say() { printf '%s\n' "$*" >&2; }
die() { say "culvert: $*"; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
