#!/bin/sh
# Gets the missing base images of the Dockerfiles: pulls them, or builds them if no registry answers.
# Usage: base-images-ensure.sh [DOCKERFILE...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
AIRGAP=$here/../airgap/build.sh

TIMEOUT_S=5 # for a registry's first answer

# pull IMAGE: pulls IMAGE; returns 1, with the reason in $log, if no registry answers in time or the registry refuses.
# By the engine, because only it knows its mirrors, proxies and credentials.
pull() {
  docker pull "$1" >"$log" 2>&1 &
  pull_pid=$!
  waited=0
  while kill -0 "$pull_pid" 2>/dev/null && ! grep -q 'Pulling from' "$log"; do
    if [ "$waited" -ge $((TIMEOUT_S * 10)) ]; then
      kill "$pull_pid" 2>/dev/null || true
      echo "no answer within $TIMEOUT_S s" >"$log"
      return 1
    fi
    waited=$((waited + 1))
    sleep 0.1
  done
  wait "$pull_pid"
}

missing=
for image in $("$here/base-images.sh" "$@"); do
  docker image inspect "$image" >/dev/null 2>&1 || missing="$missing $image"
done
[ -n "$missing" ] || { say "    all present"; exit 0; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for image in $missing; do
  if pull "$image"; then
    say "    $image: pulled"
    continue
  fi
  reason=$(tail -n 1 "$log" | cut -c 1-200)
  if ! can_install; then
    die "the container registry does not provide $image ($reason): connect this machine to one" \
      "(docker pull $image must work), or carry the base images over from a Debian machine (deploy/airgap/README.md)"
  fi
  say "    the container registry does not provide $image ($reason):"
  say "    building the base images from Debian and npm packages"
  # shellcheck disable=SC2086 # a list of images
  "$AIRGAP" $missing
  break
done
