# shellcheck shell=sh disable=SC2154
# The certificate: yours (TLS_CERT_FILE and TLS_KEY_FILE), the one that deploy/acme has fetched (ACME=on), or a development certificate that
# is made once and kept in the volume.

state=/var/lib/culvert/tls certificate=$TLS_CERT_FILE key_file=$TLS_KEY_FILE
if [ "$ACME" = on ]; then
  [ -z "$certificate$key_file" ] || refuse ACME "is on, but TLS_CERT_FILE is set too" "use one of them"
  # At the first start there is none yet: the development certificate serves until the CA has asked for its challenge.
  certificate=$ACME_PAIR.crt key_file=$ACME_PAIR.key
  "$steps/install-certificate.sh" "$certificate" "$key_file" 2>/dev/null || certificate='' key_file=''
fi
if [ -z "$certificate$key_file" ]; then
  # shellcheck disable=SC2046 # a list of names
  "$steps/development-ca.sh" "$state" $(without_commas "$SERVER_NAME")
  "$steps/install-certificate.sh" "$state/server.crt" "$state/server.key"
fi

# check SETTING FILE OPENSSL-COMMAND KIND
check() {
  [ -n "$2" ] || refuse "$1" "is empty, but its other half is set" "set both TLS_CERT_FILE and TLS_KEY_FILE, or neither"
  file "$1" "$2"
  [ -e "$2" ] || refuse "$1" "'$2' does not exist" "mount the file there"
  [ -r "$2" ] || refuse "$1" "'$2' can't be read by uid $(id -u)" "let that uid read it (chown $(id -u), or chmod o+r in a closed folder)"
  openssl "$3" -noout -in "$2" -passin pass: 2>/dev/null || refuse "$1" "'$2' is not a $4" "give a PEM file without a passphrase"
}
if [ -n "$TLS_CERT_FILE$TLS_KEY_FILE" ]; then
  check TLS_CERT_FILE "$certificate" x509 certificate
  check TLS_KEY_FILE "$key_file" pkey "private key"
  [ "$(openssl x509 -noout -pubkey -in "$certificate")" = "$(openssl pkey -pubout -in "$key_file")" ] ||
    refuse TLS_KEY_FILE "'$key_file' is not the key of the certificate in TLS_CERT_FILE" "give the two files of one pair"
  openssl x509 -noout -checkend 0 -in "$certificate" >/dev/null || refuse TLS_CERT_FILE "'$certificate' has expired" "renew it"
  "$steps/install-certificate.sh" "$certificate" "$key_file" 2>/dev/null ||
    refuse TLS_CERT_FILE "'$certificate' can't be loaded by Nginx" "give the certificate and its whole chain, with a key of 2048 bits or more"
fi
