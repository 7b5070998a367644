#!/bin/sh
# uacme's hook: METHOD TYPE NAME TOKEN AUTHORIZATION. Accepts HTTP-01 alone: the proxy serves the file at
# /.well-known/acme-challenge/TOKEN on its plain port. https://www.rfc-editor.org/rfc/rfc8555#section-8.3
set -eu
umask 077
[ "$2" = http-01 ] || exit 1
case $4 in '' | *[!A-Za-z0-9_-]*) exit 1 ;; esac
file=/srv/certificates/challenges/$4

# After a failure, the name stays for acme.sh.
case $1 in
  begin) echo "$3" >/tmp/challenged; printf '%s' "$5" >"$file" ;;
  done) rm -f "$file" /tmp/challenged ;;
  failed) rm -f "$file" ;;
esac
