# shellcheck shell=sh
# Settings, engine and base images, which compose needs to build. Sourced after lib.sh, with `here` set to this folder.

# shellcheck disable=SC2154 # the caller's
root=$(cd "$here/../.." && pwd)
cd "$root" || exit 1
. "$here/settings.sh"

step 'Settings' "$here/preflight.sh"

early='' early_log=
# Without an engine, the images have no use.
trap '[ -z "$early" ] || kill "$early" 2>/dev/null; rm -f "$early_log"' EXIT
if "$here/base-images-early.sh"; then
  early_log=$(mktemp)
  "$here/../airgap/build.sh" >"$early_log" 2>&1 &
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

step 'Docker engine' "$here/engine.sh"
step 'Base images' base_images

export_build_files
SENTRY_RELEASE=$(setting SENTRY_RELEASE "$(git -C "$root" rev-parse --short HEAD 2>/dev/null || true)")
export SENTRY_RELEASE
