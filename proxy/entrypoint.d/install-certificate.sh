#!/bin/sh
# install-certificate.sh CERTIFICATE KEY [COPY]: from now on every TLS handshake gets a copy of this pair. COPY keeps
# both for the next start. Without a change: status 2 if the key is not the certificate's, 1 if Nginx cannot load them.
set -eu
umask 077
new=$(mktemp -d "$RENDERED/certificate.XXXXXX")
trap 'rm -rf "$new"' EXIT
cp "$1" "$new/server.crt"
cp "$2" "$new/server.key"

# Nginx compares a key with a certificate of its type only: it loads one of RSA beside one of ECDSA.
[ "$(openssl x509 -noout -pubkey -in "$new/server.crt")" = \
  "$(openssl pkey -pubout -in "$new/server.key" -passin pass:)" ] || exit 2

# Loaded at the first handshake only, it would fail there: a chain cut short, a key that is too weak.
mkdir "$new/try"
cat >"$new/try/nginx.conf" <<CONF
pid $new/try/pid;
events {}
http {
    access_log off;
    include /etc/nginx/snippets/temporary-files.conf;
    ssl_certificate $new/server.crt;
    ssl_certificate_key $new/server.key;
    server { listen unix:$new/try/socket ssl; }
}
CONF
nginx -t -q -e stderr -c "$new/try/nginx.conf"
rm -r "$new/try"

date -d "$(openssl x509 -noout -startdate -in "$new/server.crt" | cut -d = -f 2)" +%s >"$new/not-before"
date -d "$(openssl x509 -noout -enddate -in "$new/server.crt" | cut -d = -f 2)" +%s >"$new/expiry"

if [ -n "${3:-}" ]; then
  cat "$new/server.crt" "$new/server.key" >"$3.new" && mv "$3.new" "$3" ||
    echo "culvert proxy: $3 can't be written: check the volume" >&2
fi
# In one step. A handshake that reads one file before and the other after it fails: browsers connect again.
before=$(readlink "$RENDERED/certificate" || true)
ln -sfn "$new" "$RENDERED/certificate.new"
mv -T "$RENDERED/certificate.new" "$RENDERED/certificate"
trap - EXIT
rm -rf "$before"
