# shellcheck shell=sh
# When to ask the CA. Sourced.
# shellcheck disable=SC2034 # used by those that source it
. "$(dirname "$0")/settings.sh"

# Let's Encrypt refuses an account that has failed five validations of a name within an hour:
# https://letsencrypt.org/docs/rate-limits/#authorization-failures-per-identifier-per-account
MAX_ATTEMPTS=4
WINDOW_S=$((4 * ACME_RETRY))
MAX_DELAY_S=$((24 * ACME_RETRY))
# How often the CA is asked whether it wants an earlier renewal: https://www.rfc-editor.org/rfc/rfc9773#section-4.3
ARI_INTERVAL_S=21600
# A CA is not obeyed for longer than Let's Encrypt's longest period, a week: an attempt a week exceeds no limit.
MAX_RETRY_AFTER_S=604800

# not DATE: prints the certificate's startdate or enddate, in seconds since 1970.
not() { date -d "$(openssl x509 -noout "-$1" -in "$store/current/server.crt" | cut -d = -f 2)" +%s; }

# until_renewal: prints the seconds until two thirds of the certificate's life are over; 0 when there is none for these names.
until_renewal() {
  renewal_in=0
  if [ "$(cat "$store/current/issued-for" 2>/dev/null)" = "$ACME_DIRECTORY $names" ]; then
    renewal_end=$(not enddate)
    renewal_in=$((renewal_end - (renewal_end - $(not startdate)) / 3 - $(date +%s)))
  fi
  [ "$renewal_in" -gt 0 ] && echo "$renewal_in" || echo 0
}

# attempt_begins: notes an attempt before it is made, so that one cut off by a restart counts as well.
attempt_begins() {
  { tail -n 9 "$attempts" 2>/dev/null || true; date +%s; } >"$attempts.new"
  mv "$attempts.new" "$attempts"
}

# not_before SECONDS: notes that this CA wants no attempt for these names sooner, which a restart must not forget.
not_before() {
  if [ "$1" -eq 0 ]; then rm -f "$retry_after"; return; fi
  printf '%s %s\n' "$(($(date +%s) + $1))" "$names" >"$retry_after.new"
  mv "$retry_after.new" "$retry_after"
}

# until_retry_after: prints the seconds until the time that not_before noted.
until_retry_after() {
  allowed_at=0 limited_names=
  [ ! -e "$retry_after" ] || read -r allowed_at limited_names <"$retry_after"
  [ "$limited_names" = "$names" ] && [ "$allowed_at" -gt "$(date +%s)" ] && echo "$((allowed_at - $(date +%s)))" || echo 0
}

# until_allowed: prints the seconds until another attempt keeps the limit of MAX_ATTEMPTS within WINDOW_S, and the CA's own.
until_allowed() {
  allowed_in=$(until_retry_after) window_in=0
  if [ -e "$attempts" ] && [ "$(wc -l <"$attempts")" -ge "$MAX_ATTEMPTS" ]; then
    window_in=$(($(tail -n "$MAX_ATTEMPTS" "$attempts" | head -n 1) + WINDOW_S - $(date +%s)))
  fi
  [ "$window_in" -gt "$allowed_in" ] && echo "$window_in" || echo "$allowed_in"
}

# in_utc SECONDS: prints the time in so many seconds.
in_utc() { date -u -d "@$(($(date +%s) + $1))" +%FT%TZ; }

# backoff: prints the seconds until the next attempt: twice as many after each failure, MAX_DELAY_S at most.
backoff() {
  backoff_s=$ACME_RETRY backoff_failures=$(wc -l <"$attempts")
  while [ "$backoff_failures" -gt 1 ] && [ "$backoff_s" -lt "$MAX_DELAY_S" ]; do
    backoff_s=$((2 * backoff_s)) backoff_failures=$((backoff_failures - 1))
  done
  backoff_allowed=$(until_allowed)
  [ "$backoff_allowed" -gt "$backoff_s" ] && echo "$backoff_allowed" || echo "$backoff_s"
}
