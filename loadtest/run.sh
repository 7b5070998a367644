#!/bin/sh
# Runs one load profile: PROFILE=average BASE_URL=https://… sh run.sh [arguments of k6 run]. Uses the k6 on PATH, else
# the image of compose's profile `loadtest`. Exit codes: README.
set -eu
from=$PWD
cd "$(dirname "$0")"
: "${PROFILE:=smoke}" "${OUT:=test-results/$PROFILE}"
finish=:
trap 'eval "$finish"' EXIT
trap 'exit 130' HUP INT PIPE TERM

. ../deploy/lib.sh
die() {
  echo "culvert loadtest: $*" >&2
  exit 1
}
# Relative files in COMPOSE_FILE are below the folder that has the compose file.
compose() { (cd .. && docker compose --profile loadtest "$@"); }
# published SERVICE PORT: prints where the running stack has PORT of SERVICE on this machine.
published() { compose port "$1" "$2" 2>/dev/null | sed 's/.*://'; }

case $PROFILE in *[!a-z]*) die "PROFILE '$PROFILE' is not a profile: see README.md" ;; esac
mkdir -p "$OUT"
# If this run ends early, the files of an earlier one could be mistaken for its results.
for file in ca.crt limits.json baseline.json settings.env target.env k6.log summary.txt summary.json junit.xml \
  report.html dashboard.html; do rm -f "$OUT/$file"; done

# What the target has, unless the environment says otherwise.
if [ -n "${TARGET:-}" ]; then
  case $TARGET in /*) ;; *) TARGET=$from/$TARGET ;; esac
  [ -r "$TARGET" ] || die "TARGET '$TARGET' cannot be read: give a file of NAME=value, which PROFILE=preflight proposes"
  while IFS='=' read -r name value || [ -n "$name" ]; do
    case $name in '' | '#'*) continue ;; *[!A-Z0-9_]*) die "TARGET: '$name' is not a setting: write NAME=value" ;; esac
    eval "[ -n \"\${$name:-}\" ] || export $name=\$value"
  done <"$TARGET"
  export TARGET
fi

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
# The certificate of the stack on this machine is issued by its own development CA, which its proxy has.
case ${BASE_URL:-https://localhost} in
https://localhost* | https://127.0.0.1*)
  compose exec -T proxy cat /var/lib/culvert/tls/ca.crt >>"$OUT/ca.crt" 2>/dev/null || :
  ;;
esac
if [ -s "$OUT/ca.crt" ]; then export SSL_CERT_FILE="$OUT/ca.crt"; else rm -f "$OUT/ca.crt"; fi
chmod -R a+rX "$OUT"
RUN_COMMIT=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
export PROFILE OUT RUN_COMMIT "K6_NO_USAGE_REPORT=${K6_NO_USAGE_REPORT:-true}" \
  "K6_AUTO_EXTENSION_RESOLUTION=${K6_AUTO_EXTENSION_RESOLUTION:-false}"

if has k6; then
  k6=path
  # In compose's image, localhost:8443 is the proxy itself.
  # shellcheck disable=SC2034 # read by setting
  root=$(cd .. && pwd)
  port=$(published proxy 8443)
  : "${BASE_URL:=https://localhost:${port:-$(setting HTTPS_PORT 8443)}}"
  export BASE_URL
  # A page's scripts run in a browser only.
  [ -n "${K6_BROWSER_EXECUTABLE_PATH:-}" ] || for browser in chromium chromium-browser google-chrome; do
    ! has "$browser" || export "K6_BROWSER_EXECUTABLE_PATH=$(command -v "$browser")"
  done
  NO_BROWSER=${NO_BROWSER-}
  [ -n "${K6_BROWSER_EXECUTABLE_PATH:-}" ] || NO_BROWSER="no Chromium on PATH"
  k6() { command k6 "$@"; }
elif compose pull --quiet --policy missing loadtest >/dev/null 2>&1; then
  k6=image NO_BROWSER="k6's image has no Chromium"
  chmod a+w "$OUT" # the image's user does not exist on this machine
  # shellcheck disable=SC2046 # one word per variable
  # --no-deps: an option that is also a setting of the stack must not recreate the stack.
  k6() { compose run --rm -T --no-deps $(env | sed -n 's/^\(K6_[A-Z0-9_]*\)=.*/-e \1/p') loadtest "$@"; }
else
  die "k6 is not on PATH and its image is not available: install it" \
    "(https://grafana.com/docs/k6/latest/set-up/install-k6/)"
fi
RUN_K6=$(k6 version | sed -n 's/^k6 v\([0-9.]*\).*/\1/p')
case $RUN_K6 in 0.* | 1.*) die "k6 $RUN_K6 is too old: install 2.0 or newer" ;; esac
export RUN_K6 NO_BROWSER

# logged COMMAND...: runs k6 with its own log, a line for each failed request, in a file. Without a result, the log says
# why.
logged() {
  "$@" 2>>"$OUT/k6.log" || {
    status=$?
    [ -s "$OUT/summary.json" ] || tail -n 20 "$OUT/k6.log" >&2
    return "$status"
  }
}

# What the run would use for settings that are not set. Over HTTP/1.1, because the run uses HTTP/2 where it can.
(export GODEBUG="${GODEBUG:+$GODEBUG,}http2client=0" && logged k6 run --quiet --no-thresholds preflight.ts) || exit $?
[ "$PROFILE" != preflight ] || {
  echo "  proposed: loadtest/$OUT/target.env, for TARGET=" >&2
  exit 0
}
while IFS='=' read -r name value; do export "$name=$value"; done <"$OUT/settings.env"

# Starts the reader of what arrived beside k6: for Sentry's API, for a recording ingest on port INGEST, or for the local
# ingest.
reader() {
  spotlight='' port=0 host=127.0.0.1
  case ${INGEST:-}:${SENTRY_API:-}:${SENTRY_DSN:-}:$TUNNEL_PATH in
  *:*:*:off | http*) return 0 ;;
  *:https:*) ;;
  [1-9]*) port=$INGEST host=0.0.0.0 ;;
  ::*@ingest:*) spotlight=http://127.0.0.1:$(published ingest 8969) ;;
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

# k6's dashboard shows the run over time. Its server is for those who set K6_WEB_DASHBOARD.
[ -n "${K6_WEB_DASHBOARD:-}" ] || export K6_WEB_DASHBOARD=true K6_WEB_DASHBOARD_PORT=-1
export K6_WEB_DASHBOARD_EXPORT="${K6_WEB_DASHBOARD_EXPORT:-$OUT/dashboard.html}"
status=0
logged k6 run --quiet "$@" main.ts || status=$?
# k6 knows one code for every crossed threshold: the summary tells them apart.
result='the run did not end'
if [ -r "$OUT/summary.json" ]; then
  code=$(sed -n 's/^  "exit": \([0-9]*\).*/\1/p' "$OUT/summary.json")
  case $status:${code:-0} in 0:0 | 99:0) ;; 0:* | 99:*) status=$code ;; esac
  result=$(sed -n 's/^\([A-Z].*\) · .*/\1/p' "$OUT/summary.txt" 2>/dev/null || :)
fi
case $OUT in /*) ;; *) OUT=loadtest/$OUT ;; esac
echo "  results: $OUT/ (exit code $status, $result)" >&2
exit "$status"
