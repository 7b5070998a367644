#!/bin/sh
# Starts the front, or has it read apps.conf again if it runs. README.md.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh
. deploy/settings/check.sh

[ -s deploy/front/apps.conf ] ||
  die "deploy/front/apps.conf: missing: copy apps.conf.example there, and give each name its stack"
check_readable deploy/front
prepare_machine
FRONT_NAME=$(setting FRONT_NAME culvert-front)
FRONT_HTTPS_PORT=$(setting FRONT_HTTPS_PORT 443)
FRONT_HTTP_PORT=$(setting FRONT_HTTP_PORT 80)
FRONT_SUBNET=$(setting FRONT_SUBNET)
export BUILDX_NO_DEFAULT_ATTESTATIONS=1 FRONT_NAME FRONT_HTTPS_PORT FRONT_HTTP_PORT FRONT_SUBNET
front() { docker compose --progress quiet -p "$FRONT_NAME" -f deploy/front/compose.yml "$@"; }
front build >&2
output=$(front run --rm --no-deps -T front -t 2>&1) || {
  reason=$(printf '%s\n' "$output" | sed -n 's/.*\[emerg\] [0-9#]*: //p')
  [ -z "$reason" ] || die "deploy/front/apps.conf: $reason: mend the line"
  die "the front: $(printf '%s\n' "$output" | tail -n 1)"
}
front up --detach --wait >&2
front exec front nginx -c /front/nginx.conf -s reload
say "    $(grep -cE '^[^#]+;' deploy/front/apps.conf) names on port $FRONT_HTTPS_PORT"
