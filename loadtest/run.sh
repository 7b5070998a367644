#!/bin/sh
# Runs one profile: PROFILE=average BASE_URL=https://… sh run.sh. Uses the k6 on PATH, else the image of compose's profile
# `loadtest`. Ends with k6's exit status: 0 only when every check was made and passed.
set -eu
from=$PWD
cd "$(dirname "$0")"
: "${PROFILE:=smoke}" "${OUT:=test-results/$PROFILE}"

die() {
  echo "culvert loadtest: $*" >&2
  exit 1
}
profiles() { for script in *.ts; do case $script in *.*.ts) ;; *) printf ' %s' "${script%.ts}" ;; esac done; }

case $PROFILE in
*[!a-z]* | '') die "PROFILE '$PROFILE' is not a profile: give one of$(profiles)" ;;
esac
[ -f "$PROFILE.ts" ] || die "PROFILE '$PROFILE' is not a profile: give one of$(profiles)"

mkdir -p "$OUT"
# Those of an earlier run would pass for this one's, should it end early.
rm -f "$OUT/ca.crt" "$OUT/summary.txt" "$OUT/summary.json" "$OUT/junit.xml" "$OUT/report.html"

# A copy: whoever runs k6 in the image may read it, and finds it by the same name.
if [ -n "${SSL_CERT_FILE:-}" ]; then
  case $SSL_CERT_FILE in /*) ;; *) SSL_CERT_FILE=$from/$SSL_CERT_FILE ;; esac
  cp "$SSL_CERT_FILE" "$OUT/ca.crt" 2>/dev/null || die "SSL_CERT_FILE '$SSL_CERT_FILE' can't be read: name a PEM file"
fi
# The stack on this machine has a certificate of its own authority, whatever else is trusted here.
case ${BASE_URL:-https://localhost} in
https://localhost* | https://127.0.0.1*) [ ! -r ../.culvert/dev-ca.crt ] || cat ../.culvert/dev-ca.crt >>"$OUT/ca.crt" ;;
esac
if [ -e "$OUT/ca.crt" ]; then
  chmod a+r "$OUT/ca.crt"
  export SSL_CERT_FILE="$OUT/ca.crt"
fi

export OUT K6_NO_USAGE_REPORT=true K6_AUTO_EXTENSION_RESOLUTION=false
# Port -1: the report is written, and nothing listens. A report needs three periods at least.
export K6_WEB_DASHBOARD=true K6_WEB_DASHBOARD_PORT=-1 K6_WEB_DASHBOARD_PERIOD=1s K6_WEB_DASHBOARD_EXPORT="$OUT/report.html"

compose() { docker compose --profile loadtest "$@"; }
if command -v k6 >/dev/null 2>&1; then
  # In compose's image localhost is the proxy itself, on 8443.
  # shellcheck disable=SC2034 # read by settings.sh
  root=$(cd .. && pwd)
  . ../deploy/host/settings.sh
  : "${BASE_URL:=https://localhost:$(setting HTTPS_PORT 8443)}"
  export BASE_URL
  k6() { command k6 "$@"; }
elif compose pull --quiet --policy missing loadtest >/dev/null 2>&1; then
  chmod a+w "$OUT" # the image's user is a stranger on this machine
  # --no-deps: a knob that is also a setting of the stack must not start the stack anew.
  k6() { compose run --rm -T --no-deps loadtest "$@"; }
else
  die "there is no k6 on PATH and no registry gives its image: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/)"
fi

# The local ingest goes away for the middle third of what the script says its length is.
outage() {
  by_hand='stop and start its ingest by hand, and say so with OUTAGE=by-hand'
  mine=https://localhost:$(compose port proxy 8443 2>/dev/null | sed 's/.*://')
  theirs=${BASE_URL:-$mine}
  [ "${theirs%/}" = "$mine" ] || die "PROFILE outage: BASE_URL '$theirs' is not the stack that runs here ($mine): $by_hand"
  # An ingest may still run here that the stack no longer reports to.
  case $(compose exec -T proxy printenv SENTRY_DSN 2>/dev/null) in
  *@ingest:*) ;;
  *) die "PROFILE outage: the stack that runs here does not report to the local ingest: $by_hand" ;;
  esac
  export OUTAGE=switched
  length=$(k6 inspect --include-system-env-vars outage.ts | sed -n 's/.*"duration": "\([0-9hms]*\)".*/\1/p' | tail -n 1)
  [ -n "$length" ] || return 0 # a knob is bad, as k6 will say
  third=$((($(echo "$length" | sed 's/h/*3600+/; s/m/*60+/; s/s//')) / 3))
  (sleep "$third" && compose stop --timeout 0 ingest && sleep "$third" && compose start ingest) 2>/dev/null &
  switch=$!
  trap 'kill "$switch" 2>/dev/null || :; compose start ingest 2>/dev/null' EXIT
}
switch=''
case $PROFILE:${OUTAGE:-} in
outage:by-hand) ;;
outage:*) outage ;;
esac

status=0
k6 run --quiet "$PROFILE.ts" || status=$?
echo "  reports: loadtest/$OUT/" >&2
[ "$PROFILE:${OUTAGE:-}" != outage:switched ] || [ "$status" != 0 ] || wait "$switch" || die "the ingest was not stopped and started: no outage was tested"
exit "$status"
