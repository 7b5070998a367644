#!/bin/sh
# Loads a renewed certificate without a restart. A pair that does not match (half written) is left alone.
set -eu

keep=$LAST_PAIR
[ "$ACME" = off ] || TLS_CERT_FILE=$ACME_PAIR.crt TLS_KEY_FILE=$ACME_PAIR.key keep=''
[ -n "$TLS_CERT_FILE" ] || exit 0

fingerprint() { cat "$1" "$2" 2>/dev/null | cksum; }
rejected() { echo "$1" >"$RENDERED/certificate-rejected"; }

# If this loop ended, nobody would notice until the certificate expires.
watch() {
  set +e
  # The fingerprint of the served copy: the files may have changed since it was made.
  loaded=$(fingerprint "$RENDERED/certificate/server.crt" "$RENDERED/certificate/server.key") told=''
  # With ACME, there may be none yet.
  [ -e "$TLS_CERT_FILE" ] || told=$(fingerprint /dev/null /dev/null)
  while sleep 5; do
    found=$(fingerprint "$TLS_CERT_FILE" "$TLS_KEY_FILE")
    if [ "$found" = "$loaded" ]; then
      rejected 0
    elif "${0%/*}/install-certificate.sh" "$TLS_CERT_FILE" "$TLS_KEY_FILE" "$keep" 2>/dev/null; then
      loaded=$found told=''
      rejected 0
      echo "culvert proxy: loaded the certificate that $TLS_CERT_FILE holds now"
    elif [ "$found" != "$told" ]; then
      told=$found
      rejected 1
      echo "culvert proxy: TLS_CERT_FILE and TLS_KEY_FILE are not a valid pair:" \
        "still serving the previous certificate" >&2
    fi
  done
}
watch &
