# shellcheck shell=sh
# Functions that all host scripts share. Sourced.

# Debian's PATH of a normal user lacks these.
PATH=$PATH:/usr/sbin:/sbin

# say TEXT...: prints one line of progress to stderr; stdout is for results.
say() { printf '%s\n' "$*" >&2; }

# die TEXT...: prints one line with the problem and its fix, and exits with status 1.
die() { say "culvert: $*"; exit 1; }

# has COMMAND: whether COMMAND is on PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# first_of LIST: prints the first item of a list that is separated by spaces or commas, as the proxy reads SERVER_NAME, or nothing.
first_of() { printf '%s\n' "$1" | sed -e 's/^[ ,]*//' -e 's/[ ,].*//'; }

# step NAME COMMAND...: prints NAME, runs COMMAND and prints how long it took; returns its status if it fails.
step() {
  step_name=$1; shift
  step_start=$(date +%s)
  say "==> $step_name"
  "$@" || return $?
  say "    $step_name: $(($(date +%s) - step_start)) s"
}

# is_root: whether this shell may install packages and start daemons.
is_root() { [ "$(id -u)" -eq 0 ]; }

# os_release KEY: prints KEY's value from os-release, or nothing if either is missing.
os_release() {
  sed -n "s/^$1=//p" "${OS_RELEASE_FILE:-/etc/os-release}" 2>/dev/null | tr -d '"' | head -n 1
}

# distribution: prints "debian", "ubuntu" or nothing.
distribution() { os_release ID | grep -x -e debian -e ubuntu || true; }

# can_install: whether this shell can install packages of the distribution.
can_install() { is_root && [ -n "$(distribution)" ] && has apt-get; }
