#!/bin/sh
# Keeps a certificate for SERVER_NAME where the proxy finds it: ordered at the first start, renewed when a third of its
# life is left or when the CA asks for it (ARI). Until there is a new one, the old one stays. SIGUSR1 orders one at
# once.
set -eu
umask 077

store=/srv/certificates # what the proxy reads
challenged=/tmp/challenged # the name whose challenge is being answered; after a failure, it stays

# As uacme's hook, with METHOD TYPE NAME TOKEN AUTHORIZATION. Accepts HTTP-01 alone: the proxy serves the file at
# /.well-known/acme-challenge/TOKEN on its plain port. https://www.rfc-editor.org/rfc/rfc8555#section-8.3
if [ $# -gt 0 ]; then
  [ "$2" = http-01 ] || exit 1
  case $4 in '' | *[!A-Za-z0-9_-]*) exit 1 ;; esac
  case $1 in
    begin) echo "$3" >"$challenged"; printf '%s' "$5" >"$store/challenges/$4" ;;
    done) rm -f "$store/challenges/$4" "$challenged" ;;
    failed) rm -f "$store/challenges/$4" ;;
  esac
  exit
fi

# one_line TEXT: as it may stand in a log. say TEXT: one line of the log. refuse SETTING PROBLEM FIX: ends the container
# with one line.
one_line() { printf '%s' "$1" | LC_ALL=C tr -s '\000-\037\177-\377' ' '; }
say() { printf 'culvert acme: %s\n' "$(one_line "$1")" >&2; }
refuse() { say "$1: $2: $3"; exit 1; }

: "${ACME_DIRECTORY:=https://acme-v02.api.letsencrypt.org/directory}" "${ACME_CA_FILE:=}" "${ACME_EMAIL:=}"
: "${ACME_EAB_KEY_ID:=}" "${ACME_EAB_KEY_FILE:=}" "${NOTIFY_URL:=}"
# The proxy, which starts first, has checked that these are names.
names=$(printf '%s' "${SERVER_NAME:-}" | tr ',' ' ' | xargs)
main_name=${names%% *}
for name in ${names:-''}; do
  case $name in *.*[!0-9.]*) continue ;; esac
  refuse SERVER_NAME "'$name' is not a public name" "set it to the names of the site, such as app.example.com"
done
[ "${ACME_DIRECTORY#https://[!/]}" != "$ACME_DIRECTORY" ] ||
  refuse ACME_DIRECTORY "'$ACME_DIRECTORY' is not an https address" \
    "copy the directory's address from the CA's documentation"
[ -z "$ACME_CA_FILE" ] || openssl x509 -noout -in "$ACME_CA_FILE" 2>/dev/null ||
  refuse ACME_CA_FILE "'$ACME_CA_FILE' holds no certificate that uid $(id -u) can read" \
    "give the CA's own certificate, PEM"
[ -z "$ACME_CA_FILE" ] || export UACME_CAINFO="$ACME_CA_FILE"
# In the form that uacme takes, base64url without padding.
eab_key=$(tr -d '= \t\r\n' 2>/dev/null <"${ACME_EAB_KEY_FILE:-/dev/null}" | tr '+/' '-_')
case ${ACME_EAB_KEY_ID:+id},${ACME_EAB_KEY_FILE:+file},$eab_key in
  ,,) ;;
  ,*) refuse ACME_EAB_KEY_ID "missing while ACME_EAB_KEY_FILE is set" "set both or neither" ;;
  id,,) refuse ACME_EAB_KEY_FILE "missing while ACME_EAB_KEY_ID is set" "set both or neither" ;;
  *, | *,*,*[!A-Za-z0-9_-]*) refuse ACME_EAB_KEY_FILE \
    "'$ACME_EAB_KEY_FILE' holds no key in base64url that uid $(id -u) can read" \
    "write the CA's HMAC key into it, alone" ;;
esac

# The first pause after a failure, doubled by each further one, and the longest, after which the CA is asked for its
# opinion again. Let's Encrypt allows five failed attempts an hour:
# https://letsencrypt.org/docs/rate-limits/#authorization-failures-per-identifier-per-account
RETRY_S=${ACME_RETRY:-900} # only tests set ACME_RETRY
CHECK_S=$((24 * RETRY_S))
# uacme's folder, one for each CA.
account=/var/lib/acme/$(printf '%s' "${ACME_DIRECTORY#https://}" | tr -c 'A-Za-z0-9.-' '_')
# The line of the log about the last failure with these settings, which a restart must not forget. Its time is that of
# the next attempt.
failure=/var/lib/acme/failure-$(echo "$ACME_DIRECTORY $names $ACME_EMAIL $ACME_EAB_KEY_ID" | cksum | cut -d ' ' -f 1)
failures=$store/failures # their number since the last success, for the proxy's metrics; no file while all is well
log=/tmp/uacme.log
mkdir -p "$account" "$store/challenges"

in_utc() { date -u -d "@$1" +%FT%TZ; }
# certificate_time DATE: prints the certificate's startdate or enddate, in seconds since 1970.
certificate_time() { date -d "$(openssl x509 -noout "-$1" -in "$store/current/server.crt" | cut -d = -f 2)" +%s; }
# client ARGUMENT...: runs uacme, for 15 minutes at most: a CA may accept connections and never answer.
client() { timeout 900 uacme -v -a "$ACME_DIRECTORY" -c "$account" -h /acme/acme.sh -t EC "$@" >"$log" 2>&1; }

# register: makes the account, or gives it the e-mail address that is set now. uacme takes the key of an external
# account as an argument only.
register() {
  [ ! -e "$account/contact" ] || [ "$(cat "$account/contact")" != "$ACME_EMAIL" ] || return 0
  set -- ${ACME_EMAIL:+"$ACME_EMAIL"}
  client -y ${eab_key:+-e "$ACME_EAB_KEY_ID:$eab_key"} new "$@" || { grep -q 'Account already exists' "$log" &&
    client update "$@"; } || return
  echo "$ACME_EMAIL" >"$account/contact"
}

# publish: gives the proxy the new pair. A link is replaced, so that it never sees half of a pair. The next certificate
# gets a new key.
publish() {
  pair=$(mktemp -d "$store/pair.XXXXXX") &&
    cp "$account/$main_name/cert.pem" "$pair/server.crt" &&
    mv "$account/private/$main_name/key.pem" "$pair/server.key" &&
    ln -sfn "${pair##*/}" "$store/next" && mv -T "$store/next" "$store/current" || return
  for old in "$store"/pair.*; do [ "$old" = "$pair" ] || rm -rf "$old"; done
  rm -f "$account/$main_name"/cert-*.pem
}

# order: orders a certificate if it is due or forced. Returns 0 if all is well.
order() {
  when=-f
  # Without an opinion of the CA.
  [ -n "$forced" ] || ! cmp -s "$account/$main_name/cert.pem" "$store/current/server.crt" ||
    when="-d $((($(certificate_time enddate) - $(certificate_time startdate)) / 3 / 86400 + 1))"
  forced=''
  rm -f "$store/challenges"/* "$challenged"
  register || return
  # shellcheck disable=SC2086 # lists
  client $when issue $names && status=0 || status=$?
  case $status in
    0) publish || return ;;
    1) ;; # not due
    *) ! grep -q 'no account associated' "$log" || rm "$account/contact"; return 1 ;;
  esac
  say "$main_name: certificate for $names from $ACME_DIRECTORY, valid until $(in_utc "$(certificate_time enddate)")"
}

# note_failure: notes, then says which name failed, what the CA answered, what to do, when the next attempt is due. Sets
# wait_s.
note_failure() {
  count=$(($(cat "$failures" 2>/dev/null || echo 0) + 1))
  wait_s=$((count > 5 ? CHECK_S : RETRY_S << (count - 1)))
  due=$(($(date +%s) + wait_s))
  answer=$(sed -n -e 's/^ *"detail": "\(.*\)",\{0,1\}$/\1/p' -e 's/^uacme: \(.* requires .*\)/\1/p' \
    -e 's/^uacme: [a-z_]*: \(.* failed: .*\)/\1/p' "$log" | tail -n 1)
  fix="the CA refused the order"
  [ -e "$account/contact" ] || fix="check ACME_EMAIL, ACME_EAB_KEY_ID and the key in ACME_EAB_KEY_FILE"
  case $answer in '' | 'GET '* | 'POST '*) fix="check ACME_DIRECTORY and this host's way to the CA" ;; esac
  [ ! -e "$challenged" ] || fix="point its DNS records at this host, and port 80 there at HTTP_PORT"
  said="$(cat "$challenged" 2>/dev/null || echo "$ACME_DIRECTORY"): $(printf '%.500s' "${answer:-no answer}"): $fix"
  said="$said; next attempt at $(in_utc "$due"), at once with 'docker compose kill -s USR1 acme'"
  { printf '%s\n' "$said" >"$failure" && touch -d "@$due" "$failure" && echo "$count" >"$failures.new" &&
    mv "$failures.new" "$failures"; } ||
    say "the failure was not noted: the reason is above"
  say "$said"
  # The third failure, and one a day from then on, are posted as deploy/lib.sh does. The address is a secret: not
  # an argument.
  [ $((count % 4)) -eq 3 ] && [ -n "$NOTIFY_URL" ] || return 0
  said=$(one_line "$said" | sed 's/[\\"]/\\&/g')
  printf 'url = "%s"\n' "$NOTIFY_URL" | curl -sS -m 10 -o /dev/null --fail -K - \
    --json "{\"text\": \"culvert: renewing the certificate failed $count times: $said\"}" ||
    say "NOTIFY_URL: the notification was not accepted: the reason is above"
}

trap 'exit 0' TERM INT
trap 'forced=yes' USR1
# For the health check: the first attempt is over, however it ended, or not to be waited for.
{ sleep "$((RETRY_S < 60 ? RETRY_S : 60))"; : >/tmp/settled; } &
# In the background, so that a signal ends the pause at once.
pause() { : >/tmp/settled; sleep "$1" & wait "$!" || kill "$!" 2>/dev/null || true; }

forced=''
wait_s=$(($(stat -c %Y "$failure" 2>/dev/null || echo 0) - $(date +%s)))
if [ "$wait_s" -gt 0 ]; then
  say "$(cat "$failure")"
  pause "$wait_s"
else
  say "$ACME_DIRECTORY: asked for a certificate for $names"
fi
while :; do
  wait_s=$CHECK_S
  if order; then rm -f /var/lib/acme/failure-* "$failures"; else note_failure; fi
  [ -n "$forced" ] || pause "$wait_s"
done
