#!/bin/sh
# Gets the newest base images, builds on them, and deploys. What was replaced can be put back: web by make rollback.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

# shellcheck disable=SC2046 # an image or nothing
deploy/bare-machine/update.sh $(setting WEB_IMAGE)
exec sh deploy/host/up.sh
