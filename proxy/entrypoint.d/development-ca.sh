#!/bin/sh
# development-ca.sh DIR NAME...: leaves ca.crt, server.crt and server.key in DIR, valid for each NAME and this machine's own
# names. Does nothing while the pair there still fits.
# The CA's key is deleted after signing: trusting ca.crt means trusting this one certificate only.
set -eu
dir=$1
shift

# has_names NAME...: whether the certificate is valid for each.
has_names() {
  for candidate in "$@"; do
    openssl x509 -noout -checkhost "$candidate" -in "$dir/server.crt" | grep -q 'does match' || return
  done
}
if [ -e "$dir/server.crt" ] && openssl x509 -noout -checkend 2592000 -in "$dir/server.crt" >/dev/null && has_names "$@"; then
  exit 0
fi

umask 077
mkdir -p "$dir"
new=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$new"' EXIT

# 820 days: Apple's platforms refuse server certificates that run longer than 825 (https://support.apple.com/103769).
days=820
authority() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }
authority "$new/ca.key"
openssl req -x509 -new -key "$new/ca.key" -days "$days" -subj '/CN=Culvert development CA' \
  -addext 'basicConstraints=critical,CA:TRUE,pathlen:0' -addext 'keyUsage=critical,keyCertSign' -out "$new/ca.crt"

# The names are in the SAN alone: a CN has 64 characters at most (https://www.rfc-editor.org/rfc/rfc5280#appendix-A.1).
authority "$new/server.key"
cat >"$new/extensions" <<EXT
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:localhost$(printf ',DNS:%s' "$@"),IP:127.0.0.1,IP:::1
EXT
openssl req -new -key "$new/server.key" -subj /CN=culvert |
  openssl x509 -req -CA "$new/ca.crt" -CAkey "$new/ca.key" -days "$days" -extfile "$new/extensions" \
    -out "$new/server.crt" 2>/dev/null
cat "$new/ca.crt" >>"$new/server.crt"

# Everyone may have this one: it only says what to trust.
chmod 644 "$new/ca.crt"
mv "$new/server.key" "$new/server.crt" "$new/ca.crt" "$dir/"
echo "culvert proxy: made a development certificate for $*; trust $dir/ca.crt to use it without warnings"
