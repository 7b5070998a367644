#!/bin/sh
# With SPOOL_UPSTREAM (name:port), envelopes that the ingest cannot accept go to the spool; without it, browsers are told to queue them.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/render.sh"

if [ -z "${SPOOL_UPSTREAM:-}" ]; then
  ENVELOPE_FALLBACK=@envelope_failed
  leave_out spool.conf
  leave_out routes/spool.conf
else
  is_host_and_port "$SPOOL_UPSTREAM" ||
    refuse SPOOL_UPSTREAM "'$SPOOL_UPSTREAM' is not name:port" "use the spool's address, such as spool:8082"
  ENVELOPE_FALLBACK=@spool
fi
export ENVELOPE_FALLBACK
render envelope-fallback.conf
