#!/bin/sh
# Prints the addresses of the running stack.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

# published SERVICE PORT: prints the host's port for it; 0 or nothing if there is none.
published() { docker compose port "$1" "$2" 2>/dev/null | sed 's/.*://'; }

https_port=$(published proxy 8443)
case $https_port in '' | 0 | 443) https_port= ;; *) https_port=:$https_port ;; esac
dsn=$(setting SENTRY_DSN)
site=https://$(first_of "$(setting SERVER_NAME)")$https_port
if has_web; then
  printf '\n  app      %s/\n' "$site"
else
  # A DSN of one's own is not printed.
  shown=${dsn:+<SENTRY_DSN>}
  printf '\n  SDK      Sentry.init({ dsn: "%s", tunnel: "%s%s" })\n' "${shown:-http://culvert@ingest:8969/1}" "$site" \
    "$(setting TUNNEL_PATH)"
fi
if [ -n "$dsn" ]; then
  host=${dsn#*@}
  echo "  events   go to ${host%%/*}, project ${dsn##*/}"
else
  echo "  events   http://localhost:$(published ingest 8969)/"
fi
egress=$(setting WEB_IMAGE)
egress=${egress:+on}
case $(has_web && setting WEB_EGRESS "${egress:-off}") in
  '') ;;
  on) echo "  egress   web may call outside services (WEB_EGRESS=off blocks it)" ;;
  *) echo "  egress   web cannot call outside services (WEB_EGRESS=on allows it)" ;;
esac
ca=.culvert/$(project_name)/dev-ca.crt
if [ "$(setting ACME)" = on ]; then
  # How the last attempt ended.
  echo "  TLS      $(docker logs --tail 1 "$(docker compose ps --quiet acme)" 2>&1 | sed 's/^culvert acme: //')"
elif [ -z "$(setting TLS_CERT_FILE)" ] && mkdir -p "${ca%/*}" &&
  docker compose cp proxy:/var/lib/culvert/tls/ca.crt "$ca" >/dev/null 2>&1; then
  echo "  CA       $ca, generated for this stack. To trust it, import it as an authority: in the browser, or with"
  echo "             sudo cp $ca /usr/local/share/ca-certificates/culvert-dev.crt && sudo update-ca-certificates"
fi
printf '  logs     make logs\n  stop     make down\n'
