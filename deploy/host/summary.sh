#!/bin/sh
# Prints the addresses of the running stack.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

# published SERVICE PORT: prints the host's port for PORT of SERVICE.
published() { docker compose port "$1" "$2" 2>/dev/null | sed 's/.*://'; }

# dev_ca: copies the development CA from the proxy, one copy per project, and prints its path.
dev_ca() {
  ca=.culvert/dev-ca.crt
  [ "$(project_name)" = culvert ] || ca=.culvert/$(project_name)/dev-ca.crt
  mkdir -p "$(dirname "$ca")"
  docker compose cp proxy:/var/lib/culvert/tls/ca.crt "$ca" >/dev/null 2>&1 || return 1
  printf '%s\n' "$ca"
}

# trust_command FILE: prints the command with which this platform trusts FILE.
trust_command() {
  if [ "$(uname -s)" = Darwin ]; then
    echo "sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain $1"
  elif has update-ca-certificates; then
    echo "sudo cp $1 /usr/local/share/ca-certificates/culvert-dev.crt && sudo update-ca-certificates"
  else
    echo "sudo trust anchor $1"
  fi
}

https_port=$(published proxy 8443)
# 0: not published, behind a front.
case $https_port in '' | 0 | 443) https_port= ;; *) https_port=:$https_port ;; esac
dsn=$(setting SENTRY_DSN)
site=$(first_of "$(setting SERVER_NAME localhost)")

echo
echo "  app      https://$site$https_port/"
if [ -n "$dsn" ]; then
  echo "  events   go to $(printf '%s\n' "$dsn" | sed -e 's|^[^@]*@||' -e 's|/.*||')"
else
  echo "  events   http://localhost:$(published ingest 8969)/"
fi
grafana_port=$(published grafana 3000)
[ -z "$grafana_port" ] || echo "  metrics  http://localhost:$grafana_port/"
image=$(setting WEB_IMAGE)
case $(setting WEB_EGRESS "${image:+on}") in
  on) echo "  egress   web may call outside services (WEB_EGRESS=off blocks it)" ;;
  *) echo "  egress   web cannot call outside services (WEB_EGRESS=on allows it)" ;;
esac
if [ "$(setting ACME)" = on ]; then
  # How the last attempt ended.
  echo "  TLS      $(docker logs --tail 1 "$(docker compose ps --quiet acme)" 2>&1 | sed 's/^culvert acme: //')"
elif [ -z "$(setting TLS_CERT_FILE)" ] && ca=$(dev_ca); then
  echo "  CA       $ca, generated for this stack; to trust it:"
  echo "             $(trust_command "$ca")"
  [ "$(uname -s)" = Darwin ] ||
    echo "             Firefox, Chromium on Linux: import it in the browser's certificate settings"
  echo "             curl --cacert $ca ..."
fi
echo "  logs     make logs"
echo "  stop     make down"
