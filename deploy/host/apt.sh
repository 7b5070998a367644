# shellcheck shell=sh
# Debian packages without questions and without touching the host's own apt settings. Sourced after lib.sh.

# apt_quiet LOG APT-GET-ARGUMENTS...: apt-get without questions, its talk kept in LOG.
apt_quiet() {
  apt_log=$1; shift
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=2 \
    -o DPkg::Lock::Timeout=120 "$@" >>"$apt_log" 2>&1 </dev/null
}

# debian_install PACKAGE...: installs from the host's own sources.
# Dies with apt's own reason when that does not work.
debian_install() {
  install_log=$(mktemp)
  # A source that does not answer must not stop an install that does not need it.
  apt_quiet "$install_log" update || true
  apt_quiet "$install_log" install --no-install-recommends "$@" || apt_failed "$install_log" "$*"
  rm -f "$install_log"
}

# apt_failed LOG WHAT: dies with the last error apt gave.
apt_failed() {
  apt_reason=$(grep -E '^(E:|dpkg: error)' "$1" | tail -n 1)
  die "installing $2 failed: ${apt_reason:-no reason given}; apt's output is in $1"
}

# debian_mirror: prints DEBIAN_MIRROR when set, else the address from which this host itself gets Debian.
# Dies when no configured source is Debian.
debian_mirror() {
  [ -z "${DEBIAN_MIRROR:-}" ] || { printf '%s\n' "$DEBIAN_MIRROR"; return 0; }
  mirror_codename=$(os_release VERSION_CODENAME)
  mirror_probe=$(mktemp -d)
  chmod 755 "$mirror_probe" # apt downloads as its own user
  for mirror_uri in $(apt-get update --print-uris 2>/dev/null |
      sed -n "s|^'\(.*\)/dists/$mirror_codename/InRelease'.*|\1|p" | awk '!seen[$0]++'); do
    # Other publishers use the same path; only the release file says who it is.
    if /usr/lib/apt/apt-helper -o Acquire::http::Timeout=10 download-file "$mirror_uri/dists/$mirror_codename/InRelease" \
        "$mirror_probe/InRelease" >/dev/null 2>&1 && grep -qx 'Origin: Debian' "$mirror_probe/InRelease"; then
      rm -rf "$mirror_probe"
      printf '%s\n' "$mirror_uri"
      return 0
    fi
  done
  rm -rf "$mirror_probe"
  die "DEBIAN_MIRROR: not set, and none of this machine's apt sources is Debian that answers: set it to a Debian mirror's address"
}
