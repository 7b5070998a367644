#!/bin/sh
# development-ca.sh DIR NAME...: leaves ca.crt, server.crt and server.key in DIR, valid for each NAME and localhost,
# unless the pair there still fits. The CA's key is deleted: trusting ca.crt means trusting this one certificate only.
set -eu
dir=$1
shift

fits() {
  openssl x509 -noout -checkend 2592000 -in "$dir/server.crt" >/dev/null 2>&1 || return
  for name; do
    case $name in *[!0-9.]*) check=-checkhost ;; *) check=-checkip ;; esac
    openssl x509 -noout "$check" "$name" -in "$dir/server.crt" | grep -q 'does match' || return
  done
}
! fits "$@" || exit 0
umask 077
mkdir -p "$dir"
new=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
for key in ca server; do openssl ecparam -name prime256v1 -genkey -noout -out "$new/$key.key"; done
# 820 days: Apple's platforms refuse server certificates that run longer than 825 (https://support.apple.com/103769).
openssl req -x509 -new -key "$new/ca.key" -days 820 -subj '/CN=Culvert development CA' \
  -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign' -out "$new/ca.crt"
names=$(printf ',DNS:%s\n' "$@" | sed 's/DNS:\([0-9.]*\)$/IP:\1/' | tr -d '\n')
# They are in the SAN alone: a CN has 64 characters at most (https://www.rfc-editor.org/rfc/rfc5280#appendix-A.1).
openssl req -x509 -new -key "$new/server.key" -CA "$new/ca.crt" -CAkey "$new/ca.key" -days 820 -subj /CN=culvert \
  -addext 'basicConstraints=critical,CA:FALSE' -addext 'keyUsage=critical,digitalSignature' \
  -addext 'extendedKeyUsage=serverAuth' \
  -addext "subjectAltName=DNS:localhost$names,IP:127.0.0.1,IP:::1" -out "$new/server.crt" 2>/dev/null
cat "$new/ca.crt" >>"$new/server.crt"
chmod 644 "$new/ca.crt"
mv "$new/server.key" "$new/server.crt" "$new/ca.crt" "$dir/"
echo "culvert proxy: made a development certificate for $*; trust $dir/ca.crt to use it without warnings"
