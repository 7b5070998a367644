#!/bin/sh
# Keeps a certificate for SERVER_NAME where the proxy finds it: fetched at the first start, renewed when a third of its life is left
# or when the CA asks for it. Until there is a new one, the old one stays. SIGUSR1 renews it at once.
set -eu
. "$(dirname "$0")/order.sh"

# In the background, so that a signal ends the container, or the pause, at once.
forced=''
trap 'exit 0' TERM INT
trap 'forced=yes' USR1
pause() { sleep "$1" & wait "$!" || kill "$!" 2>/dev/null || true; }

# For the health check: the first attempt is over, however it ended, or not to be waited for.
settled=/tmp/settled
settle_s=$((ACME_RETRY < 60 ? ACME_RETRY : 60))
{
  sleep "$settle_s"
  [ -e "$settled" ] || say "$ACME_DIRECTORY" "the first attempt is not over after $settle_s s: if it goes on, check this host's way to the CA"
  : >"$settled"
} &

limited=$(until_allowed)
if [ "$(until_renewal)" -gt 0 ]; then
  say_valid
elif [ "$(until_retry_after)" -gt 0 ]; then
  say "$ACME_DIRECTORY" "the CA's rate limit: next attempt at $(in_utc "$limited"); until then $(what_is_served)"
elif [ "$limited" -gt 0 ]; then
  say "$main_name" "$MAX_ATTEMPTS attempts failed within the hour: next attempt in $(((limited + 59) / 60)) min"
fi
[ "$limited" -eq 0 ] || : >"$settled"
pause "$limited"

while :; do
  attempt_begins
  order &
  forced=''
  # A signal ends `wait`, not the order.
  while :; do
    wait "$!" && ordered=0 || ordered=$?
    kill -0 "$!" 2>/dev/null || break
  done
  if [ "$ordered" -eq 0 ]; then
    rm -f "$attempts" "$retry_after" "$failures"
    next=$(until_renewal)
    [ "$next" -lt "$ARI_INTERVAL_S" ] || next=$ARI_INTERVAL_S
    [ "$next" -gt "$ACME_RETRY" ] || next=$ACME_RETRY
  else
    wc -l <"$attempts" >"$failures.new" && mv "$failures.new" "$failures"
    not_before "$(asked_to_wait)"
    next=$(backoff)
    explain "$next"
  fi
  : >"$settled"
  [ -n "$forced" ] || pause "$next"
done
