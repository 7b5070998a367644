# shellcheck shell=sh
# Packages of any Debian release, on a Debian or Ubuntu machine. Sourced after lib.sh and apt.sh.

# A keyring without this key is older than the release that packages are taken from.
KEYRINGS=/usr/share/keyrings
NEWEST_KEY=debian-archive-trixie-automatic.gpg

# debian_mirror: prints DEBIAN_MIRROR if set, else the URL of this host's own Debian source. Dies if no configured
# source is Debian.
debian_mirror() {
  [ -z "${DEBIAN_MIRROR:-}" ] || { printf '%s\n' "$DEBIAN_MIRROR"; return 0; }
  mirror_codename=$(os_release VERSION_CODENAME)
  mirror_probe=$(mktemp -d)
  chmod 755 "$mirror_probe" # apt downloads as its own user
  for mirror_uri in $(apt-get update --print-uris 2>/dev/null |
      sed -n "s|^'\(.*\)/dists/$mirror_codename/InRelease'.*|\1|p" | awk '!seen[$0]++'); do
    # Other publishers use the same path; only the release file names the publisher.
    if /usr/lib/apt/apt-helper -o Acquire::http::Timeout=10 download-file \
      "$mirror_uri/dists/$mirror_codename/InRelease" "$mirror_probe/InRelease" >/dev/null 2>&1 &&
      grep -qx 'Origin: Debian' "$mirror_probe/InRelease"; then
      rm -rf "$mirror_probe"
      printf '%s\n' "$mirror_uri"
      return 0
    fi
  done
  rm -rf "$mirror_probe"
  die "DEBIAN_MIRROR: not set, and no apt source of this machine is a Debian mirror that answers: set it to the URL" \
    "of one"
}

# debian_keys DIRECTORY: prints the folder with Debian's keys: this machine's, or newer ones downloaded to DIRECTORY,
# which are signed by bookworm and therefore trusted by older keyrings.
debian_keys() {
  [ ! -e "$KEYRINGS/$NEWEST_KEY" ] || { echo "$KEYRINGS"; return 0; }
  keys_log=$(mktemp)
  [ -e "$KEYRINGS/debian-archive-keyring.gpg" ] || debian_install debian-archive-keyring
  private_apt "$1/apt" "$KEYRINGS" "$(debian_mirror)" bookworm
  # shellcheck disable=SC2086 # a list of options
  { apt_quiet "$keys_log" $private_apt update &&
    (cd "$1" && apt_quiet "$keys_log" $private_apt download debian-archive-keyring/bookworm); } ||
    apt_failed "$keys_log" debian-archive-keyring
  dpkg-deb -x "$1"/debian-archive-keyring_*.deb "$1/keys"
  rm -f "$keys_log"
  echo "$1/keys$KEYRINGS"
}

# private_apt DIRECTORY KEYS MIRROR SUITE...: creates an apt state in DIRECTORY with only these suites, and sets
# `private_apt` to the options that select it. Pins go to DIRECTORY/preferences.
private_apt() {
  private_dir=$1 private_keys=$2 private_mirror=$3
  shift 3
  mkdir -p "$private_dir/sources" "$private_dir/preferences" "$private_dir/lists/partial"
  chmod 755 "$private_dir" # apt downloads as its own user
  for private_suite in "$@"; do
    echo "deb [signed-by=$private_keys/debian-archive-keyring.gpg] $private_mirror $private_suite main"
  done >"$private_dir/sources/debian.list"
  private_apt="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$private_dir/sources
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=$private_dir/preferences
    -o Dir::State::lists=$private_dir/lists -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Acquire::Languages=none"
}
