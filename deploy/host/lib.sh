# shellcheck shell=sh
# What every host script shares. Sourced, never run.

# Debian leaves the administrator's directories out of a plain user's PATH.
PATH=$PATH:/usr/sbin:/sbin

# say TEXT...: one line of progress, on stderr so that stdout stays free for answers.
say() { printf '%s\n' "$*" >&2; }

# die TEXT...: the one line that names what is wrong and what to do; ends the script with status 1.
die() { say "culvert: $*"; exit 1; }

# has COMMAND: whether COMMAND is on PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# step NAME COMMAND...: runs COMMAND between its name and the seconds it took; returns its status when it fails.
step() {
  step_name=$1; shift
  step_start=$(date +%s)
  say "==> $step_name"
  "$@" || return $?
  say "    $step_name: $(($(date +%s) - step_start)) s"
}

# is_root: whether this shell may install packages and start daemons.
is_root() { [ "$(id -u)" -eq 0 ]; }

# os_release KEY: prints KEY's value from os-release, nothing when either is missing.
os_release() {
  sed -n "s/^$1=//p" "${OS_RELEASE_FILE:-/etc/os-release}" 2>/dev/null | tr -d '"' | head -n 1
}

# distribution: prints "debian", "ubuntu" or nothing.
distribution() { os_release ID | grep -x -e debian -e ubuntu || true; }

# can_install: whether packages of the distribution can be installed from here.
can_install() { is_root && [ -n "$(distribution)" ] && has apt-get; }
