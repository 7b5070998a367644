#!/bin/sh
# Gets what builds and tests of arm64 images need on a machine of another architecture: programs of arm64 run under
# qemu-user. Dies if they do not.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"

BINFMT=/proc/sys/fs/binfmt_misc # https://docs.kernel.org/admin-guide/binfmt-misc.html

# runs_arm64: whether the engine, which may be on another machine, can run them.
runs_arm64() { docker buildx ls | grep -q linux/arm64; }

runs_arm64 && exit
if can_install; then
  say "    installing qemu-user-static"
  debian_install qemu-user-static arch-test
  # Without systemd, nobody else registers it.
  [ -e $BINFMT/register ] || mount -t binfmt_misc binfmt_misc $BINFMT || true
  [ -e $BINFMT/qemu-aarch64 ] || cat /usr/lib/binfmt.d/qemu-aarch64.conf >$BINFMT/register || true
fi
runs_arm64 ||
  die "this machine does not run arm64 programs: install qemu-user with binfmt (docker run --privileged --rm" \
    "tonistiigi/binfmt --install arm64)"
