#!/bin/sh
# Issues certificates valid for VALIDITY_S seconds for names that answer the challenge at port 8080. Names: POST
# :8055/add-a. With EAB_KEY, base64url, it registers only accounts that are bound to that key by the key ID key-1.
set -eu
eab=
[ -z "${EAB_KEY:-}" ] ||
  eab="\"externalAccountBindingRequired\": true, \"externalAccountMACKeys\": {\"key-1\": \"$EAB_KEY\"},"
cat >/tmp/config.json <<JSON
{"pebble": {
  "listenAddress": "0.0.0.0:443", "managementListenAddress": "0.0.0.0:15000",
  "certificate": "/tls/ca.crt", "privateKey": "/tls/ca.key",
  $eab
  "httpPort": 8080, "tlsPort": 8443, "certificateValidityPeriod": $VALIDITY_S
}}
JSON
# A name without an address does not exist.
pebble-challtestsrv -defaultIPv4 '' -defaultIPv6 '' -http01 '' -https01 '' -tlsalpn01 '' -doh '' &
export PEBBLE_VA_NOSLEEP=1 PEBBLE_AUTHZREUSE=0
exec pebble -config /tmp/config.json -dnsserver 127.0.0.1:8053
