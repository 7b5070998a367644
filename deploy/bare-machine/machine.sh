#!/bin/sh
# Gets what a bare or closed machine lacks: an engine, and the base images of the Dockerfiles. Prints the file with the
# extra CA that this machine's npm trusts, for the builds, or nothing.
set -eu
cd "$(dirname "$0")/../.."
. deploy/bare-machine/lib.sh
here=deploy/bare-machine

# Base images are built while the engine is installed, if no registry answers. Without an engine, they have no use.
early='' early_log=
trap '[ -z "$early" ] || kill "$early" 2>/dev/null; rm -f "$early_log"' EXIT
if "$here/base-images-early.sh"; then
  early_log=$(mktemp)
  deploy/bare-machine/build.sh >"$early_log" 2>&1 &
  early=$!
fi
# base_images: waits for the early build. base-images-ensure.sh then gets what is missing, or reports why it cannot.
base_images() {
  if [ -n "$early" ]; then
    say "    no container registry answers: built from Debian and npm packages while the engine was installed"
    wait "$early" && cat "$early_log" >&2
    early=''
  fi
  "$here/base-images-ensure.sh"
}
say '==> Docker engine'
"$here/engine.sh" >&2
say '==> Base images'
base_images >&2
"$here/build-ca.sh"
