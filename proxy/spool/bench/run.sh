#!/bin/sh
# Builds the spool, sends it envelopes over a network of its own while no ingest answers, prints one JSON line, removes everything.
# DURATION_SECONDS, BYTES and CONNECTIONS set the load. Exits 1 below 2,000 envelopes a second.
set -eu
[ -z "${SECONDS_LONG:-}" ] || { echo "culvert: SECONDS_LONG: no longer an option: use DURATION_SECONDS" >&2 && exit 1; }
cd "$(dirname "$0")/.."

id=culvert-spool-bench-$$
trap 'docker rm -f -v "$id" >/dev/null 2>&1; docker volume rm "$id" >/dev/null 2>&1; docker network rm "$id" >/dev/null 2>&1' EXIT
trap 'exit 130' INT TERM

image=$(docker build -q .)
docker network create --label culvert.bench "$id" >/dev/null
docker run -d --name "$id" --label culvert.bench --network "$id" --network-alias spool --read-only --cap-drop ALL \
  --volume "$id:/var/lib/spool" --env SENTRY_DSN=http://key@127.0.0.1:9/7 --env SPOOL_MAX_MB=4096 "$image" >/dev/null

line=$(docker run --rm --label culvert.bench --network "$id" --volume "$PWD/bench:/bench:ro" \
  --env SPOOL_DESTINATION=http://127.0.0.1:9/api/7/envelope/ --env "SECONDS=${DURATION_SECONDS:-10}" \
  --env "BYTES=${BYTES:-2048}" --env "CONNECTIONS=${CONNECTIONS:-64}" \
  node:24-trixie-slim sh -c 'sleep 1 && exec node /bench/receive.ts')
echo "$line"
rate=$(printf '%s' "$line" | sed -En 's/.*"envelopes_per_second":([0-9]+).*/\1/p')
[ "$rate" -ge 2000 ]
