# shellcheck shell=sh
# Installs packages without prompts. Sourced after lib.sh.

# is_root: whether this shell may install packages and start daemons.
is_root() { [ "$(id -u)" -eq 0 ]; }

# os_release KEY: prints KEY's value from os-release, or nothing if either is missing.
os_release() {
  sed -n "s/^$1=//p" "${OS_RELEASE_FILE:-/etc/os-release}" 2>/dev/null | tr -d '"' | head -n 1
}

distribution() { os_release ID | grep -x -e debian -e ubuntu || true; }

can_install() { is_root && [ -n "$(distribution)" ] && has apt-get; }

# apt_quiet LOG APT-GET-ARGUMENTS...: apt-get without prompts, its output appended to LOG. It tries again
# for 10 minutes while another apt-get locks package lists or downloads, for which DPkg::Lock::Timeout does not wait.
apt_quiet() {
  apt_log=$1 apt_tries=0; shift
  until DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=2 \
    -o DPkg::Lock::Timeout=600 "$@" >>"$apt_log" 2>&1 </dev/null; do
    apt_tries=$((apt_tries + 1))
    { [ "$apt_tries" -le 600 ] && tail -n 2 "$apt_log" | grep -q '^E: Unable to lock'; } || return 1
    sleep 1
  done
}

# debian_install PACKAGE...: installs from the host's own sources. Dies with apt's reason if that fails.
debian_install() {
  install_log=$(mktemp)
  # A source that does not answer must not stop an installation that does not need it.
  apt_quiet "$install_log" update || true
  apt_quiet "$install_log" install --no-install-recommends "$@" || apt_failed "$install_log" "$*"
  rm -f "$install_log"
}

# apt_failed LOG WHAT: dies with the last error apt gave.
apt_failed() {
  apt_reason=$(grep -E '^(E:|dpkg: error)' "$1" | tail -n 1)
  die "installing $2 failed: ${apt_reason:-no reason given}; apt's output is in $1"
}
