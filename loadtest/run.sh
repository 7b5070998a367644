#!/bin/sh
# Runs one load profile: PROFILE=average BASE_URL=https://… sh run.sh. Uses the k6 on PATH, else the image of compose's profile
# `loadtest`. Exits with k6's status: 0 only if every check has samples and passed.
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
*[!a-z]* | '') die "PROFILE '$PROFILE' is not a profile: use one of$(profiles)" ;;
esac
[ -f "$PROFILE.ts" ] || die "PROFILE '$PROFILE' is not a profile: use one of$(profiles)"

mkdir -p "$OUT"
# If this run ends early, the files of an earlier one could be mistaken for its results.
rm -f "$OUT/ca.crt" "$OUT/summary.txt" "$OUT/summary.json" "$OUT/junit.xml" "$OUT/report.html"

# A copy that the image's user may read, under the same path.
if [ -n "${SSL_CERT_FILE:-}" ]; then
  case $SSL_CERT_FILE in /*) ;; *) SSL_CERT_FILE=$from/$SSL_CERT_FILE ;; esac
  cp "$SSL_CERT_FILE" "$OUT/ca.crt" 2>/dev/null || die "SSL_CERT_FILE '$SSL_CERT_FILE' cannot be read: give the path of a PEM file"
fi
# The certificate of the stack on this machine is issued by its own development CA.
case ${BASE_URL:-https://localhost} in
https://localhost* | https://127.0.0.1*) [ ! -r ../.culvert/dev-ca.crt ] || cat ../.culvert/dev-ca.crt >>"$OUT/ca.crt" ;;
esac
if [ -e "$OUT/ca.crt" ]; then
  chmod a+r "$OUT/ca.crt"
  export SSL_CERT_FILE="$OUT/ca.crt"
fi

export OUT K6_NO_USAGE_REPORT=true K6_AUTO_EXTENSION_RESOLUTION=false
# Port -1: k6 writes the HTML report without listening. A report needs at least three periods.
export K6_WEB_DASHBOARD=true K6_WEB_DASHBOARD_PORT=-1 K6_WEB_DASHBOARD_PERIOD=1s K6_WEB_DASHBOARD_EXPORT="$OUT/report.html"

compose() { docker compose --profile loadtest "$@"; }
if command -v k6 >/dev/null 2>&1; then
  # In compose's image, localhost:8443 is the proxy itself.
  # shellcheck disable=SC2034 # read by settings.sh
  root=$(cd .. && pwd)
  . ../deploy/host/settings.sh
  : "${BASE_URL:=https://localhost:$(setting HTTPS_PORT 8443)}"
  export BASE_URL
  k6() { command k6 "$@"; }
elif compose pull --quiet --policy missing loadtest >/dev/null 2>&1; then
  chmod a+w "$OUT" # the image's user does not exist on this machine
  # --no-deps: an option that is also a setting of the stack must not recreate the stack.
  k6() { compose run --rm -T --no-deps loadtest "$@"; }
else
  die "k6 is not on PATH and its image is not available: install it (https://grafana.com/docs/k6/latest/set-up/install-k6/)"
fi

# Stops the local ingest for the middle third of the script's duration.
outage() {
  fix='stop and start its ingest yourself, with OUTAGE=manual'
  own_stack=https://localhost:$(compose port proxy 8443 2>/dev/null | sed 's/.*://')
  target=${BASE_URL:-$own_stack}
  [ "${target%/}" = "$own_stack" ] || die "PROFILE outage: BASE_URL '$target' is not the stack on this machine ($own_stack): $fix"
  # The local ingest may be running although the stack sends to another one.
  case $(compose exec -T proxy printenv SENTRY_DSN 2>/dev/null) in
  *@ingest:*) ;;
  *) die "PROFILE outage: the stack on this machine does not send to the local ingest: $fix" ;;
  esac
  export OUTAGE=automatic
  length=$(k6 inspect --include-system-env-vars outage.ts | sed -n 's/.*"duration": "\([0-9hms]*\)".*/\1/p' | tail -n 1)
  [ -n "$length" ] || return 0 # an option is invalid, and k6 will report it
  third=$((($(echo "$length" | sed 's/h/*3600+/; s/m/*60+/; s/s//')) / 3))
  (sleep "$third" && compose stop --timeout 0 ingest && sleep "$third" && compose start ingest) 2>/dev/null &
  switch=$!
  trap 'kill "$switch" 2>/dev/null || :; compose start ingest 2>/dev/null' EXIT
}
switch=''
case $PROFILE:${OUTAGE:-} in
outage: | outage:automatic) outage ;;
outage:manual) ;;
outage:*) die "OUTAGE '$OUTAGE' is invalid: use manual, or leave it out" ;;
esac

status=0
k6 run --quiet "$PROFILE.ts" || status=$?
echo "  results: loadtest/$OUT/" >&2
[ "$PROFILE:${OUTAGE:-}" != outage:automatic ] || [ "$status" != 0 ] || wait "$switch" || die "the ingest was not stopped and started: no outage was tested"
exit "$status"
