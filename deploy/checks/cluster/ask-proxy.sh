# shellcheck shell=sh
# Runs in a proxy's container: prints settings, and how requests ended: name, curl's exit status, status, seconds until
# it was connected, OpenSSL's result, outcome of the envelope. The argument has the spools' addresses.
for address in ${WEB_SETS:-}; do
  case $address in *web-previous*) export "WEB_PREVIOUS=$address" ;; *) export "WEB_CURRENT=$address" ;; esac
done
hops='WEB_UPSTREAM WEB_FALLBACK_UPSTREAM WEB_CURRENT WEB_PREVIOUS SPOOL_UPSTREAM SPOOL_FALLBACK_UPSTREAM'
for name in SENTRY_DSN INGEST_CA_FILE $hops; do
  ! value=$(printenv "$name") || echo "set $name $value"
done

untraced='sentry-trace: d0c70500000000000000000000000001-0000000000000001-0'
format='%{http_code} %{time_connect} %{ssl_verify_result} %header{x-envelope-outcome}'
# ask NAME [OPTION...]
ask() {
  name=$1
  shift
  line=$(curl -s -m 5 -o /dev/null -H "$untraced" -w "$format" "$@") && end=0 || end=$?
  echo "ask $name $end $line"
}
for name in $hops; do
  case $name in SPOOL_*) path=/healthz ;; *) path=${BASE_PATH:-}/healthz ;; esac
  address=$(printenv "$name") && ask "$name" "http://$address$path"
done

# A client report, which Sentry neither stores nor bills. kubectl's command line, which servers log, has no DSN.
items='{"type":"client_report"}\n{"timestamp":%s,"discarded_events":[]}'
# shellcheck disable=SC2059 # items is part of the format
probe=$(printf '{"dsn":"%s"}\n'"$items" "$SENTRY_DSN" "$(date +%s)")
# post NAME [OPTION...]
post() { ask "$@" -H 'Content-Type: application/x-sentry-envelope' --data-binary "$probe"; }
envelopes=$(echo "$SENTRY_DSN" | sed -E 's|^(https?://)[^@]*@(.*)/([0-9]+)$|\1\2/api/\3/envelope/|')
ingest=$(post ingest ${INGEST_CA_FILE:+--cacert "$INGEST_CA_FILE"} "$envelopes")
echo "$ingest"
# So that no probe is queued.
case $ingest in
  "ask ingest 0 200 "*)
    post server http://127.0.0.1:8083/envelopes
    for address in $(echo "$1" | tr , ' '); do
      # Before the probe is queued.
      curl -s -m 5 "http://$address/metrics" | sed -n "s/^culvert_spool_queued_envelopes.* /queued $address /p"
      post "spool:$address" -H "X-Spool-Destination: $envelopes" "http://$address/"
    done
    ;;
esac
curl -s -m 5 http://127.0.0.1:8081/metrics | grep -c '^culvert_start_timestamp_seconds' | sed 's/^/metrics /'
