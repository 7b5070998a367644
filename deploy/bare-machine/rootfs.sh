# shellcheck shell=sh
# Functions that all recipes share: from a Debian suite to a local image tag. Sourced after lib.sh, apt.sh and
# debian.sh.

SHM=/dev/shm
REQUIRED_KB=1048576     # peak use of all recipes in parallel
SHM_REQUIRED_KB=2097152 # in memory, to leave some for other programs
FULL_KB=16384           # with less than this free, the disk is full

# free_kb DIRECTORY: prints its free space in kB.
free_kb() { df -Pk "$1" | awk 'NR == 2 { print $4 }'; }

# free_space DIRECTORY: prints its free space as text.
free_space() { echo "$1 has $(($(free_kb "$1") / 1024)) MB free"; }

# pick_tmpdir: prints where to build: TMPDIR if set, else memory if large enough (it halves the time), else the disk.
pick_tmpdir() {
  if [ -n "${TMPDIR:-}" ]; then
    echo "$TMPDIR"
  elif [ -d "$SHM" ] && [ "$(free_kb "$SHM")" -ge "$SHM_REQUIRED_KB" ] &&
    ! grep -q " $SHM [^ ]* [^ ]*noexec" /proc/mounts; then
    echo "$SHM"
  else
    echo /var/tmp
  fi
}

ENGINE_TIMEOUT_S=300 # while the engine may be being installed

# start_recipe IMAGE: creates the working directory `work`, which is always removed at exit.
start_recipe() {
  image=$1
  started=$(date +%s)
  TMPDIR=$(pick_tmpdir)
  export TMPDIR
  [ "$(free_kb "$TMPDIR")" -ge "$REQUIRED_KB" ] || disk_full "before it began"
  work=$(mktemp -d "$TMPDIR/culvert-base-image.XXXXXX") ||
    die "$image: TMPDIR: cannot write to $TMPDIR: use another directory"
  chmod 755 "$work" # apt downloads as its own user
  root=$work/root
  trap 'wait; rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
}

# disk_full WHEN: dies naming the directory and its free space.
disk_full() {
  die "$image: disk full $1: $(free_space "$TMPDIR"), $((REQUIRED_KB / 1024)) MB are needed: free some, or set TMPDIR" \
    "to another directory"
}

# recipe_failed STEP OUTPUT: dies naming the image and the reason: a full disk, or the first error in OUTPUT. OUTPUT is
# not read from a file, which would be empty on a full disk.
recipe_failed() {
  if [ "$(free_kb "$TMPDIR")" -lt "$FULL_KB" ] ||
    printf '%s' "$2" | grep -qi -e 'no space left' -e 'enough free space' -e ENOSPC; then
    disk_full "while $1"
  fi
  rootfs_why=$(printf '%s\n' "$2" | grep -E '^(E:|npm (error|ERR!) [^ces]|tar:|Error|culvert:)' | head -n 1 || true)
  die "$image: $1 failed: $rootfs_why"
}

# arch: Debian's name of the architecture that images are built for: ARCH, else this machine's. Another one needs
# arm64.sh.
arch=${ARCH:-$(dpkg --print-architecture)}

# bootstrap SUITE PACKAGES: creates a minimal root filesystem of the suite with dpkg and apt in $root, without
# documentation.
bootstrap() {
  mirror=$(debian_mirror)
  keys=$(debian_keys "$work")
  # With the host's proxy and CA for the mirror. A mirror in a closed network may be past its signed expiry date.
  {
    apt-config dump | grep -E '^Acquire::https?::' || true
    echo 'Acquire::Check-Valid-Until "false";'
    echo 'Acquire::Languages "none";'
  } >"$work/apt.conf" || disk_full 'at the start'
  output=$(mmdebstrap --variant=apt --architectures="$arch" --keyring="$keys" --include="$2" --aptopt="$work/apt.conf" \
    --dpkgopt='force-unsafe-io' \
    "$1" "$root" "$mirror" 2>&1 </dev/null) || recipe_failed "building from Debian $1" "$output"
  # Not with dpkg's path-exclude, which doubles the total time.
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  rm -rf "$root/usr/share/man" "$root/usr/share/info" "$root/usr/share/locale"
  # apt.conf and dpkg's options were for this build only.
  rm -f "$root/etc/apt/apt.conf.d/99mmdebstrap"
}

# add_user NAME ID: adds a user without a password.
add_user() {
  echo "$1:x:$2:" >>"$root/etc/group"
  echo "$1:x:$2:$2::/home/$1:/bin/sh" >>"$root/etc/passwd"
  install -d -o "$2" -g "$2" "$root/home/$1"
}

# import_as CHECK OPTIONS...: imports $root with docker import's OPTIONS, runs the command CHECK in it, and tags it if
# that succeeds.
import_as() {
  check=$1; shift
  engine_waited=0
  until docker version >/dev/null 2>&1; do
    [ "$engine_waited" -lt "$ENGINE_TIMEOUT_S" ] || die "$image: no Docker engine answered within $ENGINE_TIMEOUT_S s"
    engine_waited=$((engine_waited + 1))
    sleep 1
  done
  output=$({ tar -C "$root" -cf - . || : >"$work/tar-failed"; } |
    docker import --platform "linux/$arch" --change 'LABEL culvert.built-by=deploy/bare-machine' "$@" - 2>&1) ||
      import_failed "$output"
  # A failure of tar would otherwise produce an incomplete image.
  [ ! -e "$work/tar-failed" ] || recipe_failed "packing the image" ''
  id=$output
  if ! output=$(docker run --rm --network none "$id" sh -c "$check" 2>&1); then
    docker image rm "$id" >/dev/null 2>&1 || true
    recipe_failed "the first run ($check)" "$output"
  fi
  docker tag "$id" "$image${ARCH:+-$ARCH}"
  say "    $image: built in $(($(date +%s) - started)) s"
}

# import_failed OUTPUT: recipe_failed, for the engine's own disk.
import_failed() {
  case $1 in
    *'no space left'*)
      die "$image: disk full in the Docker engine:" \
        "$(free_space "$(docker info --format '{{.DockerRootDir}}')"): free some (docker system df)" ;;
  esac
  recipe_failed "importing it into the Docker engine" "$1"
}
