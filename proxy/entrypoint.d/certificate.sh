# shellcheck shell=sh disable=SC2154
# The certificate: yours, the one that deploy/acme has fetched, or a development certificate. If yours cannot be loaded,
# the last one is served on: a renewal that went wrong must not become an outage at the next restart.

state=/var/lib/culvert/tls
(umask 077 && mkdir -p "$state")
# These two are also for watch-certificate.sh. deploy/acme writes the first.
ACME_PAIR=/srv/certificates/current/server
LAST_PAIR=$state/last-pair.pem
echo 0 >"$RENDERED/certificate-rejected"

# check SETTING FILE OPENSSL-COMMAND KIND
check() {
  [ -e "$2" ] || refuse "$1" "'$2' does not exist" "mount the file there"
  [ -r "$2" ] || refuse "$1" "'$2' can't be read by uid $(id -u)" \
    "let that uid read it (chown $(id -u), or chmod o+r in a closed folder)"
  openssl "$3" -noout -in "$2" -passin pass: 2>/dev/null || refuse "$1" "'$2' is not a $4" \
    "give a PEM file without a passphrase"
}
install_own() {
  check TLS_CERT_FILE "$TLS_CERT_FILE" x509 certificate
  check TLS_KEY_FILE "$TLS_KEY_FILE" pkey "private key"
  "$steps/install-certificate.sh" "$TLS_CERT_FILE" "$TLS_KEY_FILE" "$LAST_PAIR" 2>/dev/null || case $? in
    2) refuse TLS_KEY_FILE "'$TLS_KEY_FILE' is not the key of the certificate in TLS_CERT_FILE" \
      "give the two files of one pair" ;;
    *) refuse TLS_CERT_FILE "'$TLS_CERT_FILE' can't be loaded by Nginx" \
      "give the certificate and its whole chain, with a key of 2048 bits or more" ;;
  esac
}

if [ -n "$TLS_CERT_FILE$TLS_KEY_FILE" ]; then
  [ "$ACME" = off ] || refuse ACME "is on, but TLS_CERT_FILE is set too" "use one of them"
  both="set both TLS_CERT_FILE and TLS_KEY_FILE, or neither"
  [ -n "$TLS_CERT_FILE" ] || refuse TLS_CERT_FILE "is empty, but its other half is set" "$both"
  [ -n "$TLS_KEY_FILE" ] || refuse TLS_KEY_FILE "is empty, but its other half is set" "$both"
  if ! problem=$(install_own 2>&1); then
    # `render` is for trying settings.
    if [ "${1:-}" = render ] || ! "$steps/install-certificate.sh" "$LAST_PAIR" "$LAST_PAIR" 2>/dev/null; then
      echo "$problem" >&2
      exit 1
    fi
    echo 1 >"$RENDERED/certificate-rejected"
    echo "$problem. Serving the previous certificate, valid until" \
      "$(date -u -d "@$(cat "$RENDERED/certificate/expiry")" +%FT%TZ)" >&2
  fi
else
  rm -f "$LAST_PAIR"
  # At the first start there is none of the CA yet: the development certificate serves until there is.
  if [ "$ACME" = off ] || ! "$steps/install-certificate.sh" "$ACME_PAIR.crt" "$ACME_PAIR.key" 2>/dev/null; then
    # shellcheck disable=SC2046 # a list of names
    "$steps/development-ca.sh" "$state" $(without_commas "$SERVER_NAME")
    "$steps/install-certificate.sh" "$state/server.crt" "$state/server.key"
  fi
fi
[ "$(date +%s)" -lt "$(cat "$RENDERED/certificate/expiry")" ] ||
  echo "culvert proxy: the certificate has expired: browsers refuse the site until it is renewed" >&2
