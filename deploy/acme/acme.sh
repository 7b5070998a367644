#!/bin/sh
# Keeps a certificate for SERVER_NAME where the proxy finds it: fetched at the first start, renewed when a third of its life is left
# or when the CA asks for it. Until there is a new one, the old one stays.
set -eu
. "$(dirname "$0")/order.sh"

# In the background, so that a signal ends the container at once.
trap 'exit 0' TERM INT
pause() { sleep "$1" & wait "$!"; }

limited=$(until_allowed)
if [ "$limited" -gt 0 ] && [ "$(until_renewal)" -eq 0 ]; then
  say "$main_name" "$MAX_ATTEMPTS attempts failed within the hour: next attempt in $(((limited + 59) / 60)) min"
  : >/tmp/settled
fi
pause "$limited"

[ "$(until_renewal)" -eq 0 ] || say_valid
while :; do
  attempt_begins
  order &
  if wait "$!"; then
    rm -f "$attempts"
    next=$(until_renewal)
    [ "$next" -lt "$ARI_INTERVAL_S" ] || next=$ARI_INTERVAL_S
    [ "$next" -gt "$ACME_RETRY" ] || next=$ACME_RETRY
  else
    next=$(backoff)
    explain "$next"
  fi
  # For the health check: the first attempt is over, however it ended.
  : >/tmp/settled
  pause "$next"
done
