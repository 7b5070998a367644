#!/bin/sh
# The running stack on one screen: versions, containers, memory, dates of the images, certificate, envelopes, pages,
# what waits in the spool.
set -eu
cd "$(dirname "$0")/../../.."
. deploy/lib.sh
. deploy/checks/host/facts.sh

need_stack
# shellcheck disable=SC2016 # the container's variable
metrics=$(docker compose exec -T proxy sh -c \
  'curl -s "proxy.$INTERNAL_NETWORK:8081/metrics" "spool.$INTERNAL_NETWORK:8082/metrics"' 2>/dev/null) || true

# in_container SERVICE COMMAND...: prints a command's output, nothing if the container does not run.
in_container() { docker compose exec -T "$@" 2>/dev/null || true; }

# total METRIC [LABELS]: prints the sum of a metric's samples whose labels contain LABELS.
total() {
  printf '%s\n' "$metrics" | awk -v name="$1" -v labels="${2:-}" '
    { split($1, part, "{") }
    part[1] == name && index($1, labels) { sum += $NF }
    END { printf "%d", sum }'
}
row() { name=$1; shift; printf '%-12s %s\n' "$name" "$*"; }

row culvert "$(cat VERSION)$(git describe --always --dirty 2>/dev/null | sed 's/.*/ (&)/')"
row docker "$(docker version --format '{{.Server.Version}}'), compose $(docker compose version --short)"
row nginx "$(docker compose exec -T proxy nginx -v 2>&1 | sed -n 's|^nginx version: nginx/||p')"
next=$(in_container web node -p 'require("next/package.json").version')
row next "$next, node $(in_container web node -p process.version)"
row release "$(in_container web printenv SENTRY_RELEASE)"
if [ -n "$metrics" ]; then
  row certificate "until $(date -d "@$(total culvert_certificate_expiry_timestamp_seconds)" +%F)"
  envelopes() { total culvert_tunnel_envelopes_total "outcome=\"$1\""; }
  row envelopes "since the proxy started: $(envelopes accepted) accepted, $(envelopes queued) queued," \
    "$(envelopes rejected) rejected, $(envelopes failed) failed"
  pages() { total culvert_requests_total "route=\"page\"$1"; }
  row pages "since the proxy started: $(pages '') requests, $(pages ',class="5xx"') with 5xx"
  row spool "$(total culvert_spool_queued_envelopes) envelopes queued"
else
  row metrics "neither the proxy's nor the spool's: make doctor says why"
fi
echo
docker compose ps --all --format 'table {{.Service}}\t{{.Name}}\t{{.Status}}\t{{.Image}}'
echo
# shellcheck disable=SC2086 # a list
docker stats --no-stream --format 'table {{.Name}}\t{{.MemUsage}}\t{{.MemPerc}}\t{{.CPUPerc}}' $stack_ids
echo
# shellcheck disable=SC2046,SC2086
docker image inspect --format '{{join .RepoTags ", "}} built {{.Created}}' \
  $(docker inspect --format '{{.Image}}' $stack_ids | sort -u) | sed 's/T[^T]*$//'
