#!/bin/sh
# install-certificate.sh CERTIFICATE KEY [COPY]: from now on every TLS handshake gets a copy of this pair; status 1
# without a change if it is none that Nginx can load. COPY keeps both, in one file, for the next start.
set -eu
umask 077
new=$(mktemp -d "$RENDERED/certificate.XXXXXX")
trap 'rm -rf "$new"' EXIT
cp "$1" "$new/server.crt"
cp "$2" "$new/server.key"

# Loaded at the first handshake only, it would fail there: another certificate's key, a chain cut short, a key that is
# too weak. With an empty passphrase, because Nginx would ask for one.
mkdir "$new/try"
: >"$new/try/passphrase"
cat >"$new/try/nginx.conf" <<CONF
pid $new/try/pid;
events {}
http {
    access_log off;
    include /etc/nginx/snippets/temporary-files.conf;
    ssl_certificate $new/server.crt;
    ssl_certificate_key $new/server.key;
    ssl_password_file $new/try/passphrase;
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
# In one step. A handshake that reads one file before it and the other after it fails, and the browser connects again.
before=$(readlink "$RENDERED/certificate" || true)
ln -sfn "$new" "$RENDERED/certificate.new"
mv -T "$RENDERED/certificate.new" "$RENDERED/certificate"
trap - EXIT
rm -rf "$before"
