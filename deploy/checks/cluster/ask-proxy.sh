# shellcheck shell=sh
# Runs in a proxy's own container: prints settings, then how each request ended: name, curl's exit status, status,
# seconds until it was connected, OpenSSL's result for the certificate, outcome of the envelope. Addresses of SPOOLS are
# separated by commas.
spools=$1 page=$2
for address in ${WEB_SETS:-}; do
  case $address in *web-previous*) export "WEB_PREVIOUS=$address" ;; *) export "WEB_CURRENT=$address" ;; esac
done
upstreams='WEB_UPSTREAM WEB_FALLBACK_UPSTREAM WEB_CURRENT WEB_PREVIOUS'
for name in SENTRY_DSN SERVER_NAME BASE_PATH MAX_CONCURRENT_REQUESTS_PER_CLIENT $upstreams SPOOL_UPSTREAM \
  SPOOL_FALLBACK_UPSTREAM; do
  ! value=$(printenv "$name") || echo "set $name $value"
done
timeout 10 getent hosts kubernetes.default.svc >/dev/null
echo "dns $?"

untraced='sentry-trace: d0c70500000000000000000000000001-0000000000000001-0'
format='%{http_code} %{time_connect} %{ssl_verify_result} %header{x-envelope-outcome}'
# ask NAME [OPTION...]
ask() {
  name=$1
  shift
  line=$(curl -s -m "${seconds:-5}" -o /dev/null -H "$untraced" -w "$format" "$@") && end=0 || end=$?
  echo "ask $name $end $line"
}
for name in $upstreams; do
  address=$(printenv "$name") && ask "$name" "http://$address${BASE_PATH:-}/healthz"
done
for name in SPOOL_UPSTREAM SPOOL_FALLBACK_UPSTREAM; do
  address=$(printenv "$name") && ask "$name" "http://$address/healthz"
done

# The site as its clients ask it, at this pod's own address, which no policy blocks.
site=$(echo "${SERVER_NAME:-localhost}" | sed 's/^[ ,]*//; s/[ ,].*//') own=$(hostname -i | cut -d ' ' -f 1)
case $own in *:*) own="[$own]" ;; esac
if [ "${TRUSTED_PROXIES:-}" ] && [ "${PROXY_PROTOCOL:-}" != on ] && [ -z "${TLS_CERT_FILE:-}" ]; then
  url=http://$own:8080 options="-H Host:$site -H X-Forwarded-Proto:https"
else
  url=https://$site:8443 options="--connect-to ::$own:8443"
  [ "${PROXY_PROTOCOL:-}" != on ] || options="$options --haproxy-protocol"
  # shellcheck disable=SC2086 # a list
  ask certificate $options "$url/"
  # shellcheck disable=SC2086 # a list
  curl -sk -m 5 -o /dev/null $options -w '%{certs}' "$url/"
fi
seconds=20
# site NAME PATH [OPTION...]
site() {
  name=$1 path=$2
  shift 2
  # shellcheck disable=SC2086 # a list
  ask "$name" -k $options "$@" "$url$path"
}
site root "${BASE_PATH:-}/"
site page "${BASE_PATH:-}${page:-/healthz}"
site unknown "${BASE_PATH:-}/culvert-verify-no-such-page"

# A client report without events, which Sentry neither stores nor bills. No command line has the DSN: servers log those.
items='{"type":"client_report"}\n{"timestamp":%s,"discarded_events":[]}'
# shellcheck disable=SC2059 # items is part of the format
probe=$(printf '{"dsn":"%s"}\n'"$items" "$SENTRY_DSN" "$(date +%s)")
# post COMMAND NAME...: has `ask` or `site` send it.
post() { "$@" -H 'Content-Type: application/x-sentry-envelope' --data-binary "$probe"; }
envelopes=$(echo "$SENTRY_DSN" | sed -E 's|^(https?://)[^@]*@(.*)/([0-9]+)$|\1\2/api/\3/envelope/|')
ingest=$(post ask ingest ${INGEST_CA_FILE:+--cacert "$INGEST_CA_FILE"} "$envelopes")
echo "$ingest"
# Else no probe is sent, so that none is queued.
case $ingest in
  "ask ingest 0 200 "*)
    post site envelope "${TUNNEL_PATH:-/monitoring}"
    post site foreign "${TUNNEL_PATH:-/monitoring}?o=1&p=1"
    post ask server http://127.0.0.1:8083/envelopes
    for address in $(echo "$spools" | tr , ' '); do
      post ask "spool:$address" -H "X-Spool-Destination: $envelopes" "http://$address/"
      curl -s -m 5 "http://$address/metrics" | sed -n "s/^culvert_spool_queued_envelopes.* /queued $address /p"
    done
    ;;
esac
curl -s -m 5 http://127.0.0.1:8081/metrics | grep -c '^culvert_requests_total' | sed 's/^/metrics /'
