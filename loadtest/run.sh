#!/bin/sh
# Runs one load profile: PROFILE=average BASE_URL=https://… sh run.sh [arguments of k6 run]. Exit codes: README.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
: "${PROFILE:=smoke}" "${OUT:=$folder/test-results/$PROFILE}"
finish=:
trap 'eval "$finish"' EXIT
trap 'exit 130' HUP INT PIPE TERM

. "$folder/../deploy/lib.sh"
die() {
  echo "culvert loadtest: $*" >&2
  exit 1
}
# Relative files in COMPOSE_FILE are below the folder that has the compose file.
compose() { (cd "$folder/.." && docker compose "$@"); }
# published SERVICE PORT: prints where the running stack has PORT of SERVICE on this machine.
published() { compose port "$1" "$2" 2>/dev/null | sed 's/.*://'; }
# read_settings FILE: exports its lines of NAME=value. The environment wins.
read_settings() {
  # shellcheck disable=SC2034 # value is read by eval
  while IFS='=' read -r name value || [ -n "$name" ]; do
    case $name in '' | '#'*) continue ;; *[!A-Z0-9_]*) die "TARGET: '$name' is not a setting: write NAME=value" ;; esac
    names="${names:-} $name"
    eval "[ -n \"\${$name:-}\" ] || export $name=\$value"
  done <"$1"
}

case $PROFILE in *[!a-z]*) die "PROFILE '$PROFILE' is not a profile: see README.md" ;; esac
mkdir -p "$OUT"
for file in ca.crt target.env k6.log summary.txt summary.json; do rm -f "$OUT/$file"; done

if [ -n "${TARGET:-}" ]; then
  [ -r "$TARGET" ] || die "TARGET '$TARGET' cannot be read: give a file of NAME=value, which PROFILE=preflight proposes"
  read_settings "$TARGET"
  export TARGET TARGET_NAMES="${names:-}"
fi

if [ -n "${SSL_CERT_FILE:-}" ]; then
  cp "$SSL_CERT_FILE" "$OUT/ca.crt" 2>/dev/null ||
    die "SSL_CERT_FILE '$SSL_CERT_FILE' cannot be read: give the path of a file"
fi
# The proxy of the stack on this machine has its development CA.
case ${BASE_URL:-https://localhost} in
  https://localhost* | https://127.0.0.1*)
    compose exec -T proxy cat /var/lib/culvert/tls/ca.crt >>"$OUT/ca.crt" 2>/dev/null || : ;;
esac
if [ -s "$OUT/ca.crt" ]; then export SSL_CERT_FILE="$OUT/ca.crt"; else rm -f "$OUT/ca.crt"; fi
RUN_COMMIT=$(git -C "$folder" rev-parse --short HEAD 2>/dev/null || echo unknown)
export PROFILE OUT RUN_COMMIT "K6_NO_USAGE_REPORT=${K6_NO_USAGE_REPORT:-true}" \
  "K6_AUTO_EXTENSION_RESOLUTION=${K6_AUTO_EXTENSION_RESOLUTION:-false}"

# browser_problem: prints why no browser can open pages.
browser_problem() {
  browser=${K6_BROWSER_EXECUTABLE_PATH:-}
  [ -n "$browser" ] || { echo "no Chromium on PATH: install it" && return; }
  switches=$(echo "${K6_BROWSER_ARGS:-}" | sed 's/\([^,]\{1,\}\),*/ --\1/g')
  # shellcheck disable=SC2086 # one word per switch
  "$browser" --headless $switches --dump-dom about:blank >/dev/null 2>"$OUT/chromium.log" </dev/null ||
    echo "$browser does not start: $(sed 's/^\[[^]]*\] *//' "$OUT/chromium.log" | tail -n 1)" \
      "Set K6_BROWSER_ARGS, such as no-sandbox"
  rm -f "$OUT/chromium.log"
}

has k6 || die "k6 is not on PATH: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/)"
# shellcheck disable=SC2034 # read by setting
root=$(cd "$folder/.." && pwd)
port_of_stack=$(published proxy 8443)
: "${BASE_URL:=https://localhost:${port_of_stack:-$(setting HTTPS_PORT)}}"
# A page's scripts run in a browser only.
[ -n "${K6_BROWSER_EXECUTABLE_PATH:-}" ] || for browser in chromium chromium-browser google-chrome; do
  ! has "$browser" || export "K6_BROWSER_EXECUTABLE_PATH=$(command -v "$browser")"
done
case $PROFILE:${BROWSER:-} in preflight:* | *:off) ;; *) : "${NO_BROWSER=$(browser_problem)}" ;; esac
RUN_K6=$(k6 version | sed -n 's/^k6 v\([0-9.]*\).*/\1/p')
case $RUN_K6 in 0.* | 1.*) die "k6 $RUN_K6 is too old: install 2.0 or newer" ;; esac
export BASE_URL RUN_K6 NO_BROWSER="${NO_BROWSER:-}"

# run ARGUMENTS...: runs k6 with its log in a file. Sets status. The script writes why it ends early; k6 does not.
run() {
  status=0
  k6 run --quiet "$@" 2>>"$OUT/k6.log" || status=$?
  # A crossed limit is a result.
  case $status in 0 | 99) return 0 ;; esac
  grep -qs '"not run"' "$OUT/summary.json" && return
  reason="k6 ended with $status: see $OUT/k6.log"
  echo "NOT RUN · $PROFILE: $reason" | tee "$OUT/summary.txt"
  printf '{\n  "profile": "%s",\n  "result": "not run",\n  "exit": 108,\n  "problem": "%s"\n}\n' \
    "$PROFILE" "$reason" >"$OUT/summary.json"
}
# ended: says where the results are, and exits with the summary's code: k6 has one code for all thresholds.
ended() {
  code=$(sed -n 's/^  "exit": \([0-9]*\).*/\1/p' "$OUT/summary.json" 2>/dev/null || :)
  case ${code:-0} in 0) ;; *) status=$code ;; esac
  result=$(sed -n 's/^\([A-Z].*\) · .*/\1/p' "$OUT/summary.txt" 2>/dev/null || :)
  echo "  results: $OUT/ (exit code $status, ${result:-no summary})" >&2
  exit "$status"
}

# The settings of the run. Over HTTP/1.1, because the run uses HTTP/2 where it can.
(
  export GODEBUG="${GODEBUG:+$GODEBUG,}http2client=0"
  run --no-thresholds "$folder/preflight.ts"
  exit "$status"
) || {
  status=$?
  ended
}
if [ "$PROFILE" = preflight ]; then
  cat "$OUT/target.env"
  echo "  proposed: $OUT/target.env, for TARGET=" >&2
  exit 0
fi
read_settings "$OUT/target.env"

# Starts the reader beside k6: an ingest on port INGEST, or a reader of the local ingest if the DSN or the address says
# that the target sends there.
reader() {
  spotlight='' port=0 host=127.0.0.1
  : "${INGEST:=}" "${TUNNEL_PATH:=}"
  case $INGEST:${SENTRY_DSN:-}:$TUNNEL_PATH in
    http*) return 0 ;;
    # Without a tunnel, no envelope is sent.
    *:off | *:) ;;
    [1-9]*) port=$INGEST host=0.0.0.0 ;;
    :*@ingest:*) spotlight=$(published ingest 8969) ;;
    ::*) case ${BASE_URL%/} in *":${port_of_stack:-none}") spotlight=$(published ingest 8969) ;; esac ;;
  esac
  has node || return 0
  mkfifo "$OUT/port.$$"
  SPOTLIGHT=${spotlight:+http://127.0.0.1:$spotlight} PORT=$port HOST=$host node "$folder/reader.mjs" >"$OUT/port.$$" &
  finish="kill $! 2>/dev/null || :"
  read -r started source <"$OUT/port.$$" || started=
  rm "$OUT/port.$$"
  [ -n "$started" ] || die "INGEST: the reader did not start on port '$port': is it in use?"
  export READER="http://127.0.0.1:$started"
  # Without a source, the summary says that delivery is not verified.
  [ -z "$source$INGEST" ] || [ "$INGEST" = off ] || export INGEST="$READER"
}
reader
run "$@" "$folder/main.ts"
ended
