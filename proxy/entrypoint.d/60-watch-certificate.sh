#!/bin/sh
# Loads a renewed certificate without a restart: connections in use go on with the old one. Runs beside Nginx for as long as
# the container lives; a pair that does not match (half written, say) is left alone until it does.
set -eu

[ -n "${TLS_CERT_FILE:-}" ] || exit 0

fingerprint() { cat "$TLS_CERT_FILE" "$TLS_KEY_FILE" 2>/dev/null | cksum; }
is_pair() {
  [ "$(openssl x509 -noout -pubkey -in "$TLS_CERT_FILE" 2>/dev/null)" = "$(openssl pkey -pubout -in "$TLS_KEY_FILE" 2>/dev/null)" ]
}

watch() {
  loaded=$(fingerprint)
  while sleep 5; do
    found=$(fingerprint)
    if [ "$found" != "$loaded" ] && is_pair; then
      loaded=$found
      "$(dirname "$0")/note-expiry.sh" "$TLS_CERT_FILE"
      nginx -s reload && echo "culvert proxy: loaded the certificate that $TLS_CERT_FILE holds now"
    fi
  done
}
watch &
