# shellcheck shell=sh
# Rejects, before anything is changed, wrong files, ports and settings of this host. Sourced after lib.sh.

# check_file NAME: the file in setting NAME, if set, exists and is readable.
check_file() {
  file=$(setting "$1")
  [ -n "$file" ] || return 0
  [ -f "$file" ] || die "$1: there is no file $file: set an existing path, absolute or relative to $PWD"
  [ -r "$file" ] || die "$1: $file cannot be read by $(id -un): change its permissions (chmod), or run as its owner"
}

# check_pair: dies if TLS_CERT_FILE and TLS_KEY_FILE are no valid pair while the proxy serves a good certificate.
# Otherwise, as at a first start, the proxy says what is wrong with them.
check_pair() {
  certificate=$(setting TLS_CERT_FILE) key=$(setting TLS_KEY_FILE)
  [ -n "$certificate" ] && has openssl && has docker || return 0
  docker compose exec -T proxy curl -s -m 5 http://127.0.0.1:8081/metrics 2>/dev/null | awk -v now="$(date +%s)" \
    '$1 == "culvert_certificate_expiry_timestamp_seconds" { good = $2 > now } END { exit !good }' || return 0
  openssl x509 -noout -checkend 0 -in "$certificate" >/dev/null 2>&1 ||
    die "TLS_CERT_FILE: $certificate has expired, or is no certificate, and the proxy serves a good one: renew it first"
  public_key=$(openssl pkey -pubout -passin pass: -in "$key" 2>/dev/null) || true
  [ "$(openssl x509 -noout -pubkey -in "$certificate")" = "$public_key" ] ||
    die "TLS_KEY_FILE: $key is not the key of $certificate, and the proxy serves a good one:" \
      "give the two files of one pair"
}

# check_free PORT NAME FIX: dies if another program or stack uses PORT. A port that a container of this project
# publishes is its own, also in a crash loop.
check_free() {
  ! echo "$own_ports" | grep -qx "$1" && listens "$1" || return 0
  by=$(! has docker || docker ps --filter "publish=$1" --format '{{.Names}}' 2>/dev/null | head -n 1)
  die "$2: port $1 is in use${by:+ by container $by}: stop what uses it, or $3"
}

# listens PORT: whether a program of this machine listens on it.
listens() {
  if [ -r /proc/net/tcp ]; then
    # Column 2 is address:port in hexadecimal, column 4 the state; 0A is LISTEN.
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
      awk -v port="$(printf '%04X' "$1")" '$4 == "0A" && $2 ~ ":" port "$" { found = 1 } END { exit !found }'
  else
    nc -z -w 1 127.0.0.1 "$1" >/dev/null 2>&1
  fi
}

# check_clone: what of the clone's own state Docker cannot mend.
check_clone() {
  case $PWD in *:*) die "$PWD: Docker cannot mount a folder with a colon in its path: move the clone" ;; esac
  [ -x deploy/host/summary.sh ] || die "$PWD: its scripts cannot be executed: find deploy -name '*.sh' -exec chmod +x" \
    "{} +, or move the clone to a file system without noexec"
  { mkdir -p .culvert && [ -w .culvert ]; } 2>/dev/null ||
    die "$PWD: $(id -un) cannot write here: chown it, or run make up as its owner"
  case $(setting COMPOSE_PROFILES) in *monitoring*) check_readable deploy/monitoring deploy/kubernetes ;; esac
}

preflight() {
  check_clone
  case $(setting COMPOSE_FILE docker-compose.override.yml) in
    *docker-compose.override.yml*) ;;
    *) [ ! -e docker-compose.override.yml ] ||
      say "culvert: docker-compose.override.yml is not used: COMPOSE_FILE does not name it" ;;
  esac
  for name in TLS_CERT_FILE TLS_KEY_FILE INGEST_CA_FILE ACME_CA_FILE ACME_EAB_KEY_FILE BUILD_CA_FILE \
    SERVER_ACTIONS_KEY_FILE; do
    check_file "$name"
  done
  for pair in "TLS_CERT_FILE TLS_KEY_FILE" "TLS_KEY_FILE TLS_CERT_FILE"; do
    [ -z "$(setting "${pair% *}")" ] || [ -n "$(setting "${pair#* }")" ] ||
      die "${pair#* }: missing while ${pair% *} is set: set both or neither"
  done
  check_pair
  check_settings
  [ "$(setting ACME)" != on ] || [ -z "$(setting TLS_CERT_FILE)" ] ||
    die "ACME: on, but TLS_CERT_FILE is set too: use one of them"
  case $(setting SKEW_KEEP 10m) in
    0) ;;
    0* | *[!0-9]*[smh] | [smh] | ????*[smh] | *[!smh])
      die "SKEW_KEEP: '$(setting SKEW_KEEP)' is not a time: use a number up to 999 and a unit (s, m, h), or 0" ;;
  esac

  https_port=$(setting HTTPS_PORT 8443) http_port=$(setting HTTP_PORT 8080)
  [ "$https_port" -ne "$http_port" ] || die "HTTP_PORT: the same as HTTPS_PORT ($https_port): use two different ports"

  # Without compose, which may have to be installed first, no stack of ours can run.
  own_ports='' ports="$https_port $http_port"
  if has docker && docker compose version >/dev/null 2>&1; then
    config=$(docker compose config 2>/dev/null) || true
    compose_project=$(printf '%s\n' "$config" | sed -n 's/^name: //p')
    own_ports=$(docker ps --quiet --filter "label=com.docker.compose.project=$compose_project" \
      --filter status=running --filter status=restarting --filter status=paused 2>/dev/null |
      xargs -r docker inspect \
        --format '{{range .HostConfig.PortBindings}}{{range .}}{{println .HostPort}}{{end}}{{end}}') || true
    ports=$(printf '%s\n' "$config" | sed -n 's/^ *published: "\([0-9]*\)"$/\1/p' | sort -u)
  fi
  for port in $ports; do
    case $port in
      "$https_port") name=HTTPS_PORT ;;
      "$http_port") name=HTTP_PORT ;;
      "$(setting INGEST_PORT 8969)") name=INGEST_PORT ;;
      *) check_free "$port" docker-compose.yml "change it there"; continue ;;
    esac
    check_free "$port" "$name" "use another, e.g. $name=$((port % 50000 + 1000))"
  done
}
