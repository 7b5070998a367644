# shellcheck shell=sh
# From a Debian suite to a local image tag: what the recipes share. Sourced after host/lib.sh and host/apt.sh.

SHM=/dev/shm
SHM_ROOM_KB=2097152 # a recipe needs well under 1 GB, and two run at once
export SYSTEMD_LOG_LEVEL=err

# room_kb DIRECTORY: prints the free space there, in kB.
room_kb() { df -Pk "$1" | awk 'NR == 2 { print $4 }'; }

# room DIRECTORY: the same for people.
room() { echo "$1 has $(($(room_kb "$1") / 1024)) MB free"; }

# pick_tmpdir: prints where to build: TMPDIR when set, memory when there is room (it halves the time), else /tmp.
pick_tmpdir() {
  if [ -n "${TMPDIR:-}" ]; then
    echo "$TMPDIR"
  elif [ -d "$SHM" ] && [ "$(room_kb "$SHM")" -ge "$SHM_ROOM_KB" ] && ! grep -q " $SHM [^ ]* [^ ]*noexec" /proc/mounts; then
    echo "$SHM"
  else
    echo /tmp
  fi
}

# start_recipe IMAGE: makes the working directory `work` (removed at the end, whatever the end is) and `log` in it.
start_recipe() {
  image=$1
  started=$(date +%s)
  TMPDIR=$(pick_tmpdir)
  export TMPDIR
  work=$(mktemp -d "$TMPDIR/culvert-airgap.XXXXXX") || die "$image: cannot write to TMPDIR: $(room "$TMPDIR"); set TMPDIR to a directory with 1 GB"
  chmod 755 "$work" # apt downloads as its own user
  log=$work/log
  root=$work/root
  trap 'rm -rf "$work"' EXIT
  trap 'exit 130' INT TERM
}

# recipe_failed WHAT: dies naming the image, and the full disk when that was the reason, else the last error in the log.
recipe_failed() {
  if grep -qi -e 'no space left' -e 'enough free space' -e ENOSPC "$log" 2>/dev/null; then
    die "$image: disk full while $1: $(room "$TMPDIR"); free some, or set TMPDIR to a directory with 1 GB. No tag was made."
  fi
  die "$image: $1 failed: $(grep -E '^(E|npm error|W):? ' "$log" | tail -n 1 || true) (no tag was made)"
}

# bootstrap SUITE PACKAGES: a minimal root file system of the suite with dpkg and apt in $root, documentation left out.
bootstrap() {
  mirror=$(debian_mirror) || die "$image: no Debian mirror among this machine's apt sources: add one to /etc/apt/sources.list.d"
  # The way to the mirror (a proxy, a CA) is the host's. A mirror kept in a closed network may lag behind its signed expiry date.
  {
    apt-config dump | grep -E '^Acquire::https?::' || true
    echo 'Acquire::Check-Valid-Until "false";'
    echo 'Acquire::Languages "none";'
  } >"$work/apt.conf"
  mmdebstrap --quiet --variant=apt --include="$2" --aptopt="$work/apt.conf" \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='force-unsafe-io' \
    "$1" "$root" "$mirror" >>"$log" 2>&1 </dev/null || recipe_failed "building from Debian $1"
  # Both settings were for this build only.
  rm -f "$root/etc/apt/apt.conf.d/99mmdebstrap"
}

# add_user NAME ID: a user without a password, before or after packages exist.
add_user() {
  echo "$1:x:$2:" >>"$root/etc/group"
  echo "$1:x:$2:$2::/home/$1:/bin/sh" >>"$root/etc/passwd"
  install -d -o "$2" -g "$2" "$root/home/$1"
}

# import_as PROOF OPTIONS...: imports $root with docker import's OPTIONS, runs PROOF in it, and only then gives it the tag.
import_as() {
  proof=$1; shift
  # tar's failure would otherwise look like a smaller image.
  id=$({ tar -C "$root" -cf - . 2>>"$log" || : >"$work/tar-failed"; } | docker import "$@" - 2>>"$log") || import_failed
  [ ! -e "$work/tar-failed" ] || recipe_failed "packing the image"
  if ! docker run --rm --network none "$id" sh -c "$proof" >>"$log" 2>&1; then
    docker image rm "$id" >/dev/null 2>&1 || true
    recipe_failed "the first run ($proof)"
  fi
  docker tag "$id" "$image"
  say "    $image: built in $(($(date +%s) - started)) s"
}

# import_failed: the same as recipe_failed, for the disk that belongs to the engine.
import_failed() {
  TMPDIR=$(docker info --format '{{.DockerRootDir}}')
  recipe_failed "handing it to the Docker engine"
}
