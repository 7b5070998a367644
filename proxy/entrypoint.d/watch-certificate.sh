#!/bin/sh
# Loads a renewed certificate without a restart: connections in use go on with the old one. Runs beside Nginx for as long as
# the container lives; a pair that does not match (half written, say) is left alone until it does. Warns each hour of what is wrong.
set -eu

INTERVAL_S=5
REMIND_AFTER=720 # intervals

keep=$LAST_PAIR
[ "$ACME" = off ] || TLS_CERT_FILE=$ACME_PAIR.crt TLS_KEY_FILE=$ACME_PAIR.key keep=''

fingerprint() { cat "$1" "$2" 2>/dev/null | cksum; }
warn() { echo "culvert proxy: $1" >&2; }
rejected=$RENDERED/certificate-rejected

# Failures are retried in the next iteration: if this loop ended, it would not be noticed before the certificate expires.
watch() {
  set +e
  # Of the copy that is served: the files may have changed since it was made.
  loaded=$(fingerprint "$RENDERED/certificate/server.crt" "$RENDERED/certificate/server.key") told='' count=0
  # With ACME, there may be none yet.
  [ -e "$TLS_CERT_FILE" ] || told=$(fingerprint /dev/null /dev/null)
  while :; do
    if [ "$count" -eq 0 ]; then
      [ "$(date +%s)" -lt "$(cat "$RENDERED/certificate/expiry")" ] || warn "the certificate has expired: browsers refuse the site until it is renewed"
      [ "$(cat "$rejected")" = 0 ] || told=''
    fi
    count=$(((count + 1) % REMIND_AFTER))
    sleep "$INTERVAL_S"
    [ -n "$TLS_CERT_FILE" ] || continue
    found=$(fingerprint "$TLS_CERT_FILE" "$TLS_KEY_FILE")
    if [ "$found" = "$loaded" ]; then
      echo 0 >"$rejected"
    elif "${0%/*}/install-certificate.sh" "$TLS_CERT_FILE" "$TLS_KEY_FILE" "$keep" 2>/dev/null; then
      loaded=$found
      echo 0 >"$rejected"
      echo "culvert proxy: loaded the certificate that $TLS_CERT_FILE holds now"
    elif [ "$found" != "$told" ]; then
      told=$found
      echo 1 >"$rejected"
      warn "TLS_CERT_FILE and TLS_KEY_FILE are not a valid pair: still serving the previous certificate"
    fi
  done
}
watch &
