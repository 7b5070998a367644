#!/bin/sh
# Yours (TLS_CERT_FILE and TLS_KEY_FILE), the one that deploy/acme has fetched (ACME=on), or a development certificate made once and
# kept in the volume.
set -eu
. "${0%/*}/checks.sh"
. "${0%/*}/lists.sh"
. "${0%/*}/render.sh"

state=/var/lib/culvert/tls
: "${TLS_CERT_FILE:=}" "${TLS_KEY_FILE:=}"

check_switch ACME "$ACME"
if [ "$ACME" = off ]; then
  leave_out routes/acme-challenge.conf
else
  [ -z "$TLS_CERT_FILE$TLS_KEY_FILE" ] || refuse ACME "is on, but TLS_CERT_FILE is set too" "use one of them"
  # At the first start there is none yet: the development certificate serves until the CA has asked for its challenge.
  ! "${0%/*}/install-certificate.sh" "$ACME_PAIR.crt" "$ACME_PAIR.key" 2>/dev/null || exit 0
fi

if [ -z "$TLS_CERT_FILE$TLS_KEY_FILE" ]; then
  split "$SERVER_NAME"
  # shellcheck disable=SC2086 # a list of names
  /culvert/entrypoint.d/development-ca.sh "$state" $entries
  TLS_CERT_FILE=$state/server.crt TLS_KEY_FILE=$state/server.key
fi

# Nearly always the two files are a valid pair. Otherwise the checks below find out what is wrong; each starts openssl.
install() { "${0%/*}/install-certificate.sh" "$TLS_CERT_FILE" "$TLS_KEY_FILE" 2>/dev/null; }
is_valid_now() { read -r expiry <"$RENDERED/certificate/expiry" && [ "$expiry" -gt "$(date +%s)" ]; }
if (check_file TLS_CERT_FILE "$TLS_CERT_FILE" && check_file TLS_KEY_FILE "$TLS_KEY_FILE") 2>/dev/null && install && is_valid_now; then
  exit 0
fi

# check SETTING FILE OPENSSL-COMMAND KIND
check() {
  [ -n "$2" ] || refuse "$1" "is empty, but its other half is set" "set both TLS_CERT_FILE and TLS_KEY_FILE, or neither"
  check_file "$1" "$2"
  [ -e "$2" ] || refuse "$1" "'$2' does not exist" "mount the file there"
  [ -r "$2" ] || refuse "$1" "'$2' can't be read by uid $(id -u)" "let that uid read it (chown $(id -u), or chmod o+r in a closed folder)"
  openssl "$3" -noout -in "$2" -passin pass: 2>/dev/null || refuse "$1" "'$2' is not a $4" "give a PEM file without a passphrase"
}
check TLS_CERT_FILE "$TLS_CERT_FILE" x509 certificate
check TLS_KEY_FILE "$TLS_KEY_FILE" pkey "private key"

[ "$(openssl x509 -noout -pubkey -in "$TLS_CERT_FILE")" = "$(openssl pkey -pubout -in "$TLS_KEY_FILE")" ] ||
  refuse TLS_KEY_FILE "'$TLS_KEY_FILE' is not the key of the certificate in TLS_CERT_FILE" "give the two files of one pair"
openssl x509 -noout -checkend 0 -in "$TLS_CERT_FILE" >/dev/null ||
  refuse TLS_CERT_FILE "'$TLS_CERT_FILE' has expired" "renew it"

install ||
  refuse TLS_CERT_FILE "'$TLS_CERT_FILE' can't be loaded by Nginx" "give the certificate and its whole chain, with a key of 2048 bits or more"
