#!/bin/sh
# `make test-arm64`, apart from `make test`: builds the images for arm64, and runs the core of the proxy's contract, and
# a browser against the whole stack, under qemu-user if this machine is of another architecture.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/test/stack.sh
export CI=true ARCH=arm64 COMPOSE_PROJECT_NAME=culvert-arm64

# base_images: builds those that no registry has, and sets `bases` to the options that use them.
base_images() {
  bases=''
  for image in $(deploy/bare-machine/base-images.sh); do
    ! docker buildx imagetools inspect "$image" >/dev/null 2>&1 || continue
    deploy/bare-machine/build.sh "$image"
    bases="$bases --build-context $image=docker-image://$image-$ARCH"
  done
}

# image NAME FOLDER OPTION...
image() {
  name=$COMPOSE_PROJECT_NAME-$1 folder=$2
  shift 2
  docker buildx build --platform "linux/$ARCH" --load --tag "$name" \
    --secret "id=build_ca,src=${ca:-/dev/null}" "$@" "$folder"
}

step 'Emulation' deploy/bare-machine/arm64.sh
step 'Base images' base_images
ca=$(deploy/bare-machine/build-ca.sh)
# shellcheck disable=SC2086 # options
{
  step 'proxy' image proxy proxy $bases
  step 'spool' image spool proxy/spool $bases
  # Its other stages are built on the same base of this machine's architecture.
  step 'web' image web web \
    ${bases:+--build-context "base=docker-image://$(deploy/bare-machine/base-images.sh web/Dockerfile)-$ARCH"}
}

export PROXY_IMAGE="$COMPOSE_PROJECT_NAME-proxy" SPOOL_IMAGE="$COMPOSE_PROJECT_NAME-spool"
npm --prefix proxy/test test -- tunnel.test.ts responses.test.ts spool.test.ts --exclude '**/*-*.test.ts'

trap "docker compose --profile '*' down --volumes" EXIT
step 'Stack' docker compose up --no-build --wait --quiet-pull
CHROMIUM_PATH=$(sh deploy/bare-machine/browser.sh)
export CHROMIUM_PATH
npm --prefix web/e2e test -- --project=together browser-errors
