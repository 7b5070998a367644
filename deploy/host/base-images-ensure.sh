#!/bin/sh
# Makes sure that the base images of the Dockerfiles are here: from the registry, or built where no registry answers.
# Usage: base-images-ensure.sh [DOCKERFILE...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
AIRGAP=$here/../airgap/build.sh

PATIENCE_S=5 # for a registry's first answer

# registry_has IMAGE: pulls IMAGE; returns 1, with the reason in $log, when no registry answers in time or it refuses.
# The engine's own pull is the test: only it knows the engine's mirrors, proxies and credentials.
registry_has() {
  docker pull "$1" >"$log" 2>&1 &
  pull=$!
  waited=0
  while kill -0 "$pull" 2>/dev/null && ! grep -q 'Pulling from' "$log"; do
    if [ "$waited" -ge $((PATIENCE_S * 10)) ]; then
      kill "$pull" 2>/dev/null || true
      echo "no answer within $PATIENCE_S s" >"$log"
      return 1
    fi
    waited=$((waited + 1))
    sleep 0.1
  done
  wait "$pull"
}

missing=
for image in $("$here/base-images.sh" "$@"); do
  docker image inspect "$image" >/dev/null 2>&1 || missing="$missing $image"
done
[ -n "$missing" ] || { say "    all here"; exit 0; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for image in $missing; do
  if registry_has "$image"; then
    say "    $image: pulled"
    continue
  fi
  reason=$(tail -n 1 "$log" | cut -c 1-200)
  if ! can_install; then
    die "the container registry does not give $image ($reason): connect this machine to one" \
      "(docker pull $image must work), or carry the base images over from a Debian machine (deploy/airgap/README.md)"
  fi
  say "    the container registry does not give $image ($reason):"
  say "    building the base images from Debian and npm packages"
  # shellcheck disable=SC2086 # a list of images
  "$AIRGAP" $missing
  break
done
