#!/bin/sh
# Keeps a certificate for SERVER_NAME where the proxy finds it: ordered at the first start, renewed when a third of its life is left or
# when the CA asks for it (ARI). Until there is a new one, the old one stays. SIGUSR1 orders one at once.
set -eu
umask 077
. "$(dirname "$0")/settings.sh"

# The pause after a failure, which doubles with each further failure. Let's Encrypt allows five failed attempts an hour:
# https://letsencrypt.org/docs/rate-limits/#authorization-failures-per-identifier-per-account. Only tests set ACME_RETRY.
RETRY_S=${ACME_RETRY:-900}
# The longest pause, and how often the CA is asked whether it wants a renewal: six hours.
CHECK_S=$((24 * RETRY_S))

# uacme's folder, one for each CA.
account=/var/lib/acme/$(printf '%s' "${ACME_DIRECTORY#https://}" | tr -c 'A-Za-z0-9.-' '_')
# Three lines about the last failure, which a restart must not forget: when the next attempt is due, its settings, and the line of the log.
failure=/var/lib/acme/failure
settings="$ACME_DIRECTORY $names $ACME_EMAIL $ACME_EAB_KEY_ID"
# What the proxy reads.
store=/srv/certificates
# The number of failures since the last success, for the proxy's metrics. No file while all is well.
failures=$store/failures
log=/tmp/uacme.log
# The name whose challenge is being answered: hook.sh.
challenged=/tmp/challenged
mkdir -p "$account" "$store/challenges"

in_utc() { date -u -d "@$1" +%FT%TZ; }

# not DATE: prints the certificate's startdate or enddate, in seconds since 1970.
not() { date -d "$(openssl x509 -noout "-$1" -in "$store/current/server.crt" | cut -d = -f 2)" +%s; }

# client ARGUMENT...: runs uacme, for 15 minutes at most: a CA may accept connections and never answer.
client() { timeout 900 uacme -v -a "$ACME_DIRECTORY" -c "$account" -h /acme/hook.sh -t EC "$@" >"$log" 2>&1; }

# register: makes the account, or gives it the e-mail address that is set now. uacme takes the key of an external account as an argument only.
register() {
  [ ! -e "$account/contact" ] || [ "$(cat "$account/contact")" != "$ACME_EMAIL" ] || return 0
  set -- ${ACME_EMAIL:+"$ACME_EMAIL"}
  client -y ${eab_key:+-e "$ACME_EAB_KEY_ID:$eab_key"} new "$@" || { grep -q 'Account already exists' "$log" && client update "$@"; } || return
  echo "$ACME_EMAIL" >"$account/contact"
}

# publish: gives the proxy the new pair. A link is replaced, so that it never sees half of a pair. The next certificate gets a new key.
publish() {
  pair=$(mktemp -d "$store/pair.XXXXXX") &&
    cp "$account/$main_name/cert.pem" "$pair/server.crt" &&
    mv "$account/private/$main_name/key.pem" "$pair/server.key" &&
    ln -sfn "${pair##*/}" "$store/next" &&
    mv -T "$store/next" "$store/current" || return
  for old in "$store"/pair.*; do [ "$old" = "$pair" ] || rm -rf "$old"; done
  rm -f "$account/$main_name"/cert-*.pem
}

# order [now]: orders a certificate if it is due, or now. Returns 0 if all is well.
order() {
  rm -f "$store/challenges"/* "$challenged"
  register || return
  if [ -n "$1" ] || ! cmp -s "$account/$main_name/cert.pem" "$store/current/server.crt"; then
    set -- -f
  else
    # Without an opinion of the CA.
    set -- -d $((($(not enddate) - $(not startdate)) / 3 / 86400 + 1))
  fi
  # shellcheck disable=SC2086 # a list
  client "$@" issue $names && status=0 || status=$?
  case $status in
    0) publish || return ;;
    1) ;; # not due
    *) ! grep -q 'no account associated' "$log" || rm "$account/contact"; return 1 ;;
  esac
  say "$main_name: certificate for $names from $ACME_DIRECTORY, valid until $(in_utc "$(not enddate)")"
}

# note_failure: says which name failed, what the CA answered, what to do, and when the next attempt is due. Sets wait_s.
note_failure() {
  count=$(($(cat "$failures" 2>/dev/null || echo 0) + 1))
  wait_s=$((count > 5 ? CHECK_S : RETRY_S << (count - 1)))
  due=$(($(date +%s) + wait_s))
  answer=$(sed -n -e 's/^ *"detail": "\(.*\)",\{0,1\}$/\1/p' -e 's/^uacme: \(.* requires .*\)/\1/p' "$log" | tail -n 1)
  if [ -e "$challenged" ]; then
    fix="point its DNS records at this host, and port 80 there at HTTP_PORT"
  elif [ -z "$answer" ]; then
    answer=$(sed -n 's/^uacme: [a-z_]*: \(.* failed: .*\)/\1/p' "$log" | tail -n 1)
    fix="check ACME_DIRECTORY and this host's way to the CA"
  elif [ ! -e "$account/contact" ]; then
    fix="check ACME_EMAIL, ACME_EAB_KEY_ID and the key in ACME_EAB_KEY_FILE"
  else
    fix="the CA refused the order"
  fi
  said="$(cat "$challenged" 2>/dev/null || echo "$ACME_DIRECTORY"): $(printf '%.500s' "${answer:-no answer}"): $fix"
  said="$said; next attempt at $(in_utc "$due"), at once with 'docker compose kill -s USR1 acme'"
  say "$said"
  { printf '%s\n' "$due" "$settings" "$said" >"$failure" && echo "$count" >"$failures.new" && mv "$failures.new" "$failures"; } ||
    say "the failure was not noted: the reason is above"
  # The third failure, and one a day from then on.
  [ $((count % 4)) -ne 3 ] || notify "renewing the certificate failed $count times: $said"
}

# notify TEXT: posts it to NOTIFY_URL as deploy/host/notify.sh does. The address is a secret: not an argument.
notify() {
  [ -n "${NOTIFY_URL:-}" ] || return 0
  printf 'url = "%s"\n' "$NOTIFY_URL" | curl -sS -m 10 -o /dev/null --fail -K - -H 'Content-Type: application/json' \
    --data "{\"text\": \"culvert: $(one_line "$1" | sed 's/[\\"]/\\&/g')\"}" ||
    say "NOTIFY_URL: the notification was not accepted: the reason is above"
}

# In the background, so that a signal ends the pause at once.
trap 'exit 0' TERM INT
trap 'forced=now' USR1
pause() { sleep "$1" & wait "$!" || kill "$!" 2>/dev/null || true; }

# For the health check: the first attempt is over, however it ended, or not to be waited for.
settled=/tmp/settled
{ sleep "$((RETRY_S < 60 ? RETRY_S : 60))"; : >"$settled"; } &

forced='' wait_s=0
if [ "$(sed -n 2p "$failure" 2>/dev/null)" = "$settings" ] && [ "$(head -n 1 "$failure")" -gt "$(date +%s)" ]; then
  wait_s=$(($(head -n 1 "$failure") - $(date +%s)))
  say "$(sed -n 3p "$failure")"
  : >"$settled"
else
  say "$ACME_DIRECTORY: asked for a certificate for $names"
fi
while :; do
  [ -n "$forced" ] || pause "$wait_s"
  now=$forced forced=''
  if order "$now"; then
    rm -f "$failure" "$failures"
    wait_s=$CHECK_S
  else
    note_failure
  fi
  : >"$settled"
done
