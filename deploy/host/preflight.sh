#!/bin/sh
# Rejects invalid settings before anything is changed. The containers check the DSN, the sample rate and the tunnel path
# themselves.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"
. "$here/settings.sh"
. "$here/ports.sh"
cd "$root"

# check_file NAME: the file in setting NAME, if set, exists and is readable.
check_file() {
  file=$(setting "$1")
  [ -n "$file" ] || return 0
  [ -f "$file" ] || die "$1: there is no file $file: set an existing path, absolute or relative to $root"
  [ -r "$file" ] || die "$1: $file cannot be read by $(id -un): change its permissions (chmod), or run as its owner"
}

# check_port NAME DEFAULT: setting NAME is a free port.
check_port() {
  port=$(setting "$1" "$2")
  case $port in
    0* | *[!0-9]* | ??????*) wrong_port "$1" ;;
  esac
  [ "$port" -le 65535 ] || wrong_port "$1"
  check_free "$port" "$1" "use another, e.g. $1=$((port % 50000 + 1000))"
}

# wrong_port NAME: dies because NAME's value is not a port.
wrong_port() { die "$1: '$(setting "$1")' is not a port: use a number from 1 to 65535"; }

# check_free PORT NAME FIX: dies if another program uses PORT, naming the setting or file that sets it.
check_free() {
  port_is_ours "$1" || ! port_is_taken "$1" || die "$2: port $1 is in use$(port_owner "$1"): stop what uses it, or $3"
}

# check_compose: compose can read its files, and ports that no setting changes are free. Skipped if compose is not installed yet.
check_compose() {
  if ! has docker || ! docker compose version >/dev/null 2>&1; then return 0; fi
  compose_output=$(docker compose config 2>&1) || die "docker compose cannot read its files: $(printf '%s\n' "$compose_output" | tail -n 1)"
  for port in $(printf '%s\n' "$compose_output" | sed -n 's/^ *published: "\([0-9]*\)"$/\1/p'); do
    check_free "$port" docker-compose.yml "change it there"
  done
}

for name in TLS_CERT_FILE TLS_KEY_FILE INGEST_CA_FILE ACME_CA_FILE ACME_EAB_KEY_FILE BUILD_CA_FILE SERVER_ACTIONS_KEY_FILE; do check_file "$name"; done
if [ -n "$(setting TLS_CERT_FILE)" ] && [ -z "$(setting TLS_KEY_FILE)" ]; then
  die "TLS_KEY_FILE: missing while TLS_CERT_FILE is set: set both or neither"
fi
if [ -z "$(setting TLS_CERT_FILE)" ] && [ -n "$(setting TLS_KEY_FILE)" ]; then
  die "TLS_CERT_FILE: missing while TLS_KEY_FILE is set: set both or neither"
fi

case $(setting ACME off) in
  on) [ -z "$(setting TLS_CERT_FILE)" ] || die "ACME: on, but TLS_CERT_FILE is set too: use one of them" ;;
  off) ;;
  *) die "ACME: '$(setting ACME)' is neither on nor off: use on for a certificate from a CA, off for your own or the development one" ;;
esac

case $(setting WEB_EGRESS off) in
  on | off) ;;
  *) die "WEB_EGRESS: '$(setting WEB_EGRESS)' must be on or off: on lets web call outside services, off does not" ;;
esac

check_port HTTPS_PORT 8443
check_port HTTP_PORT 8080
[ "$(setting HTTPS_PORT 8443)" -ne "$(setting HTTP_PORT 8080)" ] ||
  die "HTTP_PORT: the same as HTTPS_PORT ($(setting HTTPS_PORT 8443)): use two different ports"
check_compose
