#!/bin/sh
# Runs one load profile: PROFILE=average BASE_URL=https://… sh run.sh [arguments of k6 run]. Uses the k6 on PATH, else the image of
# compose's profile `loadtest`. Exit codes: README.
set -eu
from=$PWD
cd "$(dirname "$0")"
: "${PROFILE:=smoke}" "${OUT:=test-results/$PROFILE}"
finish=:
trap 'eval "$finish"' EXIT
trap 'exit 130' HUP INT PIPE TERM

. ../deploy/host/lib.sh
die() {
  echo "culvert loadtest: $*" >&2
  exit 1
}
compose() { docker compose --profile loadtest "$@"; }

case $PROFILE in *[!a-z]*) die "PROFILE '$PROFILE' is not a profile: see README.md" ;; esac
mkdir -p "$OUT"
# If this run ends early, the files of an earlier one could be mistaken for its results.
for file in ca.crt limits.json baseline.json settings.env summary.txt summary.json report.html chart.svg; do rm -f "$OUT/$file"; done

# near NAME FILE: copies the file that setting NAME gives to where the image's user may read it, and points NAME there.
near() {
  eval "value=\${$1:-}"
  case $value in
  '' | '{'*) return 0 ;;
  http://* | https://*)
    # k6's image has no curl.
    if has curl; then curl -fsSL "$value" -o "$OUT/$2"; else wget -qO "$OUT/$2" "$value"; fi ||
      die "$1 '$value' cannot be fetched: give a reachable address"
    ;;
  *)
    case $value in /*) ;; *) value=$from/$value ;; esac
    # Of a folder, the newest summary.
    [ ! -d "$value" ] || value=$(find "$value" -name '*summary*.json' | sort | tail -n 1)
    cp "$value" "$OUT/$2" 2>/dev/null || die "$1 '$value' cannot be read: give the path of a file"
    ;;
  esac
  export "$1=$OUT/$2"
}
near SSL_CERT_FILE ca.crt
near LIMITS limits.json
near BASELINE baseline.json
# The certificate of the stack on this machine is issued by its own development CA.
case ${BASE_URL:-https://localhost} in
https://localhost* | https://127.0.0.1*) [ ! -r ../.culvert/dev-ca.crt ] || cat ../.culvert/dev-ca.crt >>"$OUT/ca.crt" ;;
esac
[ ! -e "$OUT/ca.crt" ] || export SSL_CERT_FILE="$OUT/ca.crt"
chmod -R a+rX "$OUT"
RUN_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export PROFILE OUT RUN_COMMIT "K6_NO_USAGE_REPORT=${K6_NO_USAGE_REPORT:-true}" \
  "K6_AUTO_EXTENSION_RESOLUTION=${K6_AUTO_EXTENSION_RESOLUTION:-false}"

if has k6; then
  k6=path
  # In compose's image, localhost:8443 is the proxy itself.
  # shellcheck disable=SC2034 # read by setting
  root=$(cd .. && pwd)
  : "${BASE_URL:=https://localhost:$(setting HTTPS_PORT 8443)}"
  export BASE_URL
  k6() { command k6 "$@"; }
elif compose pull --quiet --policy missing loadtest >/dev/null 2>&1; then
  k6=image
  chmod a+w "$OUT" # the image's user does not exist on this machine
  # shellcheck disable=SC2046 # one word per variable
  # --no-deps: an option that is also a setting of the stack must not recreate the stack.
  k6() { compose run --rm -T --no-deps $(env | sed -n 's/^\(K6_[A-Z0-9_]*\)=.*/-e \1/p') loadtest "$@"; }
else
  die "k6 is not on PATH and its image is not available: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/)"
fi
RUN_K6=$(k6 version | sed -n 's/^k6 v\([0-9.]*\).*/\1/p')
case $RUN_K6 in 0.* | 1.*) die "k6 $RUN_K6 is too old: install 2.0 or newer" ;; esac
export RUN_K6

# What the run would use for settings that are not set.
k6 run --quiet --no-thresholds preflight.ts || exit $?
[ "$PROFILE" != preflight ] || exit 0
while IFS='=' read -r name value; do export "$name=$value"; done <"$OUT/settings.env"

# Starts the reader of what arrived beside k6: for Sentry's API, for a recording ingest on port INGEST, or for the local ingest.
reader() {
  spotlight='' port=0 host=127.0.0.1
  case ${INGEST:-}:${SENTRY_API:-}:${SENTRY_DSN:-}:$TUNNEL_PATH in
  *:*:*:off | http*) return 0 ;;
  *:https:*) ;;
  [1-9]*) port=$INGEST host=0.0.0.0 ;;
  ::*@ingest:*) spotlight=http://127.0.0.1:8969 ;;
  *) return 0 ;;
  esac
  if [ "$k6" = image ]; then
    [ -z "$spotlight" ] || spotlight=http://ingest:8969
    id=$(compose run --rm -d -T --no-deps -e PORT=8970 -e SPOTLIGHT="$spotlight" -e SENTRY_API -e SENTRY_AUTH_TOKEN \
      ${INGEST:+-p "$INGEST:8970"} -v "$PWD/reader.mjs:/reader.mjs:ro" --entrypoint node ingest /reader.mjs) || return 0
    finish="$finish; docker rm -f $id >/dev/null"
    INGEST=http://$(docker inspect -f '{{.Config.Hostname}}' "$id"):8970
  elif has node; then
    mkfifo "$OUT/port.$$"
    SPOTLIGHT=$spotlight PORT=$port HOST=$host node reader.mjs >"$OUT/port.$$" &
    finish="$finish; kill $! 2>/dev/null || :"
    read -r started <"$OUT/port.$$" || started=
    rm "$OUT/port.$$"
    if [ -z "$started" ]; then
      # No local ingest runs: the summary says that delivery is not verified.
      [ -z "$spotlight" ] || return 0
      die "INGEST: the reader did not start on port '$port': is it in use?"
    fi
    INGEST=http://127.0.0.1:$started
  else
    return 0
  fi
  export INGEST
}
reader

status=0
k6 run --quiet "$@" main.ts || status=$?
# k6 knows one code for every crossed threshold: the summary tells them apart.
result='the run did not end'
if [ -r "$OUT/summary.json" ]; then
  code=$(sed -n 's/^  "exit": \([0-9]*\).*/\1/p' "$OUT/summary.json")
  case $status:${code:-0} in 0:0 | 99:0) ;; 0:* | 99:*) status=$code ;; esac
  result=$(sed -n 's/^\([A-Z].*\) · .*/\1/p' "$OUT/summary.txt" 2>/dev/null || :)
  ! has node || node trend.mjs "$OUT" || :
fi
case $OUT in /*) ;; *) OUT=loadtest/$OUT ;; esac
echo "  results: $OUT/ (exit code $status, $result)" >&2
exit "$status"
