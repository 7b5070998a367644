#!/bin/sh
# `make test-arm64`, apart from `make test`: builds the images for arm64, and runs the core of the proxy's contract and the whole stack with
# them, under qemu-user if this machine is of another architecture.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/test/stack.sh
export CI=true ARCH=arm64 DOCKER_DEFAULT_PLATFORM=linux/arm64 COMPOSE_PROJECT_NAME=culvert-arm64

# base IMAGE: prints the option that builds on this machine's own base image for arm64, if no registry has it.
base() { docker buildx imagetools inspect "$1" >/dev/null 2>&1 || printf ' --build-context %s=docker-image://%s-%s' "$1" "$1" "$ARCH"; }

# base_images: builds those that no registry has.
base_images() {
  bases=''
  for image in $(deploy/bare-machine/base-images.sh); do
    option=$(base "$image")
    bases="$bases$option"
    [ -z "$option" ] || deploy/bare-machine/build.sh "$image"
  done
}

# build NAME FOLDER: builds an image as the compose file would name it.
build() {
  # shellcheck disable=SC2086 # options
  docker buildx build --quiet --load --tag "$COMPOSE_PROJECT_NAME-$1" $bases --secret "id=build_ca,src=${ca:-/dev/null}" "$2" >/dev/null
}

step 'Emulation' deploy/bare-machine/arm64.sh
step 'Base images' base_images
ca=$(deploy/bare-machine/build-ca.sh)
step 'proxy' build proxy proxy
step 'spool' build spool proxy/spool
step 'web' build web web
step 'ingest' build ingest deploy/ingest

export PROXY_IMAGE="$COMPOSE_PROJECT_NAME-proxy" SPOOL_IMAGE="$COMPOSE_PROJECT_NAME-spool" INGEST_IMAGE="$COMPOSE_PROJECT_NAME-ingest"
# What the tests run beside the images is of this machine.
(unset DOCKER_DEFAULT_PLATFORM && npm --prefix proxy/test test -- tunnel.test.ts responses.test.ts spool.test.ts)
npm --prefix deploy/test test -- archive.test.ts
