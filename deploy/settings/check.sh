# shellcheck shell=sh
# What the operator wrote: the names in .env, and values that compose cannot read. Sourced after deploy/lib.sh.

# saved_names: prints the names that .env sets, or the files of COMPOSE_ENV_FILES.
saved_names() {
  (
    IFS=,
    # shellcheck disable=SC2086 # a list
    sed -n "s/$(assigned '\([A-Za-z_][A-Za-z0-9_]*\)').*/\2/p" ${COMPOSE_ENV_FILES:-.env} 2>/dev/null
  )
}

# unread_names: prints the names in .env that neither the compose files, with their env_files, nor the scripts read.
# Compose and Docker read some themselves. After check_compose.
unread_names() {
  saved_names | grep -vE '^(COMPOSE|DOCKER|BUILDKIT|BUILDX)_' | grep -vxF -e "$({
    printf '%s\n' "${config:-}"
    printf '%s\n' "$(setting COMPOSE_FILE docker-compose.yml:docker-compose.override.yml)" deploy/images.yml \
      deploy/web/settings.env | tr ':' '\n' |
      while IFS= read -r file; do [ ! -r "$file" ] || sed '/^ *#/d' "$file"; done
    grep -rohE '(setting |\$\{)[A-Z][A-Z0-9_]+' --include='*.sh' deploy
  } | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)" || true
}

# check_choice NAME VALUE VALUE: setting NAME, if set, is one of two.
check_choice() {
  case $(setting "$1") in
    '' | "$2" | "$3") ;;
    *) die "$1: '$(setting "$1")' is neither $2 nor $3: use $2 or $3" ;;
  esac
}

# check_port NAME: setting NAME is a port.
check_port() {
  port=$(setting "$1")
  case $port in 0* | *[!0-9]* | ??????*) port=65536 ;; esac
  [ "${port:-1}" -le 65535 ] || die "$1: '$(setting "$1")' is not a port: use a number from 1 to 65535"
}

# check_file NAME: the file in setting NAME, if set, exists and is readable.
check_file() {
  file=$(setting "$1")
  [ -n "$file" ] || return 0
  [ -f "$file" ] || die "$1: there is no file $file: set an existing path, absolute or relative to $PWD"
  [ -r "$file" ] || die "$1: $file cannot be read by $(id -un): change its permissions (chmod), or run as its owner"
}

# check_readable FOLDER...: dies if a container, whose user is another one, cannot read these, as after umask 077.
check_readable() {
  for file in $(find "$@" ! -type l ! -perm -004 | head -n 1); do
    die "$file: other users cannot read it, and a container must: chmod -R o+rX $*"
  done
}

# check_settings: dies with the setting that compose cannot read, before compose says so without its name.
check_settings() {
  for name in TLS_CERT_FILE TLS_KEY_FILE INGEST_CA_FILE ACME_CA_FILE ACME_EAB_KEY_FILE BUILD_CA_FILE \
    SERVER_ACTIONS_KEY_FILE SENTRY_AUTH_TOKEN_FILE; do
    check_file "$name"
  done
  check_choice ACME on off
  check_choice WEB_EGRESS on off
  check_choice WEB on off
  check_choice NETWORK_IPV6 true false
  has_web || for name in WEB_IMAGE WEB_TAG BASE_PATH WEBSOCKET_PATH; do
    [ -z "$(setting "$name")" ] ||
      die "$name: it is set, but WEB=off runs no app: remove $name from .env, or set WEB=on"
  done
  check_port HTTPS_PORT
  check_port HTTP_PORT
  check_port INGEST_PORT
}

# check_compose [OPTION...]: sets `config` to what `docker compose config` prints. Dies if compose cannot read its
# files, or takes a part of a value for a variable that is not set.
check_compose() {
  messages=$(mktemp) unreadable=
  config=$(docker compose config "$@" 2>"$messages") || unreadable=yes
  message=$(cat "$messages")
  rm "$messages"
  [ -z "$unreadable" ] ||
    die "docker compose cannot read its files: $(printf '%s\n' "$message" | tail -n 1):" \
      "check .env and the compose files"
  variable=$(printf '%s\n' "$message" | sed -n 's/.*The \\"\(.*\)\\" variable is not set.*/\1/p' | head -n 1)
  [ -n "$variable" ] || return 0
  # shellcheck disable=SC2086 # a list
  name=$(IFS=,; grep -shE "[$][{]?$variable" ${COMPOSE_ENV_FILES:-.env} |
    sed -n 's/^\(.* \)*\([A-Za-z0-9_]*\)=.*/\2/p' | tail -n 1)
  die "${name:-a compose file}: no variable $variable is set: put a value with \$ into single quotes:" \
    "${name:-NAME}='...\$$variable...'"
}
