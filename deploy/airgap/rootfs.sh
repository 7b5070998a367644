# shellcheck shell=sh
# From a Debian suite to a local image tag: what the recipes share. Sourced after host/lib.sh, apt.sh and debian.sh.

SHM=/dev/shm
ROOM_KB=1048576     # what the recipes need at their peak, side by side
SHM_ROOM_KB=2097152 # what memory must offer, so that something is left for the others
FULL_KB=16384       # less than this left is full

# room_kb DIRECTORY: prints the free space there, in kB.
room_kb() { df -Pk "$1" | awk 'NR == 2 { print $4 }'; }

# room DIRECTORY: the same for people.
room() { echo "$1 has $(($(room_kb "$1") / 1024)) MB free"; }

# pick_tmpdir: prints where to build: TMPDIR when set, memory when there is room (it halves the time), else the disk.
pick_tmpdir() {
  if [ -n "${TMPDIR:-}" ]; then
    echo "$TMPDIR"
  elif [ -d "$SHM" ] && [ "$(room_kb "$SHM")" -ge "$SHM_ROOM_KB" ] && ! grep -q " $SHM [^ ]* [^ ]*noexec" /proc/mounts; then
    echo "$SHM"
  else
    echo /var/tmp
  fi
}

ENGINE_TIMEOUT_S=300 # for an engine that is still being installed

# start_recipe IMAGE: makes the working directory `work`, removed at the end, whatever the end is.
start_recipe() {
  image=$1
  started=$(date +%s)
  TMPDIR=$(pick_tmpdir)
  export TMPDIR
  [ "$(room_kb "$TMPDIR")" -ge "$ROOM_KB" ] || disk_full "before it began"
  work=$(mktemp -d "$TMPDIR/culvert-airgap.XXXXXX") || die "$image: TMPDIR: cannot write to $TMPDIR: give another directory"
  chmod 755 "$work" # apt downloads as its own user
  root=$work/root
  trap 'wait; rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
}

# disk_full WHEN: dies naming the place and its room.
disk_full() {
  die "$image: disk full $1: $(room "$TMPDIR"), $((ROOM_KB / 1024)) MB are needed: free some, or set TMPDIR to another directory"
}

# recipe_failed WHAT OUTPUT: dies naming the image, and the full disk when that was the reason, else the last error in OUTPUT.
# OUTPUT comes from memory: a log on the full disk would be empty.
recipe_failed() {
  if [ "$(room_kb "$TMPDIR")" -lt "$FULL_KB" ] ||
    printf '%s' "$2" | grep -qi -e 'no space left' -e 'enough free space' -e ENOSPC; then
    disk_full "while $1"
  fi
  die "$image: $1 failed: $(printf '%s\n' "$2" | grep -E '^(E:|npm (error|ERR!) [^ces]|tar:|Error|culvert:)' | head -n 1 || true)"
}

# bootstrap SUITE PACKAGES: a minimal root file system of the suite with dpkg and apt in $root, documentation left out.
bootstrap() {
  mirror=$(debian_mirror)
  keys=$(debian_keys "$work")
  # The way to the mirror (a proxy, a CA) is the host's. A mirror kept in a closed network may lag behind its signed expiry date.
  {
    apt-config dump | grep -E '^Acquire::https?::' || true
    echo 'Acquire::Check-Valid-Until "false";'
    echo 'Acquire::Languages "none";'
  } >"$work/apt.conf" || disk_full 'at the start'
  said=$(mmdebstrap --variant=apt --keyring="$keys" --include="$2" --aptopt="$work/apt.conf" --dpkgopt='force-unsafe-io' \
    "$1" "$root" "$mirror" 2>&1 </dev/null) || recipe_failed "building from Debian $1" "$said"
  # Afterwards: dpkg's path-exclude doubles the time of the whole.
  find "$root/usr/share/doc" -type f ! -name copyright -delete
  rm -rf "$root/usr/share/man" "$root/usr/share/info" "$root/usr/share/locale"
  # Both settings were for this build only.
  rm -f "$root/etc/apt/apt.conf.d/99mmdebstrap"
}

# add_user NAME ID: a user without a password.
add_user() {
  echo "$1:x:$2:" >>"$root/etc/group"
  echo "$1:x:$2:$2::/home/$1:/bin/sh" >>"$root/etc/passwd"
  install -d -o "$2" -g "$2" "$root/home/$1"
}

# import_as PROOF OPTIONS...: imports $root with docker import's OPTIONS, runs PROOF in it, and only then gives it the tag.
import_as() {
  proof=$1; shift
  engine_waited=0
  until docker version >/dev/null 2>&1; do
    [ "$engine_waited" -lt "$ENGINE_TIMEOUT_S" ] || die "$image: no Docker engine answered within $ENGINE_TIMEOUT_S s"
    engine_waited=$((engine_waited + 1))
    sleep 1
  done
  said=$({ tar -C "$root" -cf - . || : >"$work/tar-failed"; } |
    docker import --change 'LABEL culvert.built-by=deploy/airgap' "$@" - 2>&1) || import_failed "$said"
  # tar's failure would otherwise look like a smaller image.
  [ ! -e "$work/tar-failed" ] || recipe_failed "packing the image" ''
  id=$said
  if ! said=$(docker run --rm --network none "$id" sh -c "$proof" 2>&1); then
    docker image rm "$id" >/dev/null 2>&1 || true
    recipe_failed "the first run ($proof)" "$said"
  fi
  docker tag "$id" "$image"
  say "    $image: built in $(($(date +%s) - started)) s"
}

# import_failed OUTPUT: recipe_failed, for the disk that belongs to the engine.
import_failed() {
  case $1 in
    *'no space left'*)
      die "$image: disk full in the Docker engine: $(room "$(docker info --format '{{.DockerRootDir}}')"): free some (docker system df)" ;;
  esac
  recipe_failed "handing it to the Docker engine" "$1"
}
