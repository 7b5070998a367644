#!/bin/sh
# Loads a renewed certificate without a restart: connections in use go on with the old one. Runs beside Nginx for as long as
# the container lives; a pair that does not match (half written, say) is left alone until it does.
set -eu

[ -n "${TLS_CERT_FILE:-}" ] || exit 0

fingerprint() { cat "$TLS_CERT_FILE" "$TLS_KEY_FILE" 2>/dev/null | cksum; }
is_pair() {
  key=$(openssl pkey -pubout -in "$TLS_KEY_FILE" -passin pass: 2>/dev/null) && [ -n "$key" ] &&
    [ "$key" = "$(openssl x509 -noout -pubkey -in "$TLS_CERT_FILE" 2>/dev/null)" ]
}

# Whatever fails is tried again on the next look: nobody would notice an end of this loop before the certificate's.
watch() {
  set +e
  loaded=$(fingerprint) told=''
  noted=$loaded
  while sleep 5; do
    found=$(fingerprint)
    if [ "$found" = "$loaded" ]; then
      :
    elif is_pair && nginx -s reload; then
      loaded=$found
      echo "culvert proxy: loaded the certificate that $TLS_CERT_FILE holds now"
    elif [ "$found" != "$told" ]; then
      told=$found
      echo "culvert proxy: TLS_CERT_FILE and TLS_KEY_FILE hold no pair that can be loaded now: the one before is served until they do" >&2
    fi
    if [ "$noted" != "$loaded" ] && "$(dirname "$0")/note-expiry.sh" "$TLS_CERT_FILE" 2>/dev/null; then
      noted=$loaded
    fi
  done
}
watch &
