# shellcheck shell=sh
# Functions that the scripts share. Sourced.

# Debian's PATH of a normal user lacks these.
PATH=$PATH:/usr/sbin:/sbin

# say TEXT...: prints one line of progress to stderr; stdout is for results.
say() { printf '%s\n' "$*" >&2; }

# notify_failures COMMAND: from now on, a failure of this script is told to NOTIFY_URL, with die's line. 130: Ctrl-C.
notify_failures() { failing=$1; trap notify_failure EXIT; }
notify_failure() {
  case $? in 0 | 130) return 0 ;; esac
  deploy/host/notify.sh "$failing failed: ${died:-its output says why}"
}

# die TEXT...: prints one line with the problem and its fix, and exits with status 1.
die() { died=$*; say "culvert: $*"; exit 1; }

# has COMMAND: whether COMMAND is on PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# first_of LIST: prints the first item, if any, of a list separated by spaces or commas, as SERVER_NAME is.
first_of() { printf '%s\n' "$1" | sed -e 's/^[ ,]*//' -e 's/[ ,].*//'; }

# step NAME COMMAND...: prints NAME, runs COMMAND, prints how long it took. Not in a condition, where `set -e` is off.
step() {
  step_name=$1; shift
  step_start=$(date +%s)
  say "==> $step_name"
  "$@"
  say "    $step_name: $(($(date +%s) - step_start)) s"
}

# setting NAME [DEFAULT]: prints NAME's value of the shell, else of .env (or COMPOSE_ENV_FILES), else DEFAULT.
setting() {
  eval "setting_given=\${$1+yes} setting_value=\${$1-}"
  if [ -z "$setting_given" ]; then
    setting_assigned="s/$(assigned "$1")[[:space:]]*//"
    setting_value=$(IFS=,
      for file in ${COMPOSE_ENV_FILES:-${root:-.}/.env}; do
        [ ! -r "$file" ] || sed -n -e "$setting_assigned" -e 't value' -e b -e ':value' \
          -e 's/[[:cntrl:]]$//' -e 's/^"\([^"]*\)".*$/\1/' -e 't print' -e "s/^'\([^']*\)'.*$/\1/" -e 't print' \
          -e 's/[[:space:]]\{1,\}#.*$//' -e 's/[[:space:]]*$//' -e ':print' -e p "$file"
      done)
    # The last one wins.
    setting_value=${setting_value##*"
"}
  fi
  printf '%s\n' "${setting_value:-${2:-}}"
}

# assigned NAME: prints the regular expression of the part of a line that sets NAME in .env. Group 1: `export`.
assigned() { echo '^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}'"$1"'[[:space:]]*='; }

# saved_names: prints the names that .env sets, or the files of COMPOSE_ENV_FILES.
saved_names() {
  (
    IFS=,
    # shellcheck disable=SC2086 # a list
    sed -n "s/$(assigned '\([A-Za-z_][A-Za-z0-9_]*\)').*/\2/p" ${COMPOSE_ENV_FILES:-.env} 2>/dev/null
  )
}

# unread_names: prints the names in .env that neither the compose files, with their env_files, nor the scripts read.
# Compose and Docker read some themselves.
unread_names() {
  saved_names | grep -vE '^(COMPOSE|DOCKER|BUILDKIT|BUILDX)_' | grep -vxF -e "$({
    docker compose config 2>/dev/null
    printf '%s\n' "$(setting COMPOSE_FILE docker-compose.yml:docker-compose.override.yml):deploy/images.yml" |
      tr ':' '\n' | while IFS= read -r file; do [ ! -r "$file" ] || sed '/^ *#/d' "$file"; done
    grep -rohE '(setting |\$\{)[A-Z][A-Z0-9_]+' --include='*.sh' deploy
  } | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u)" || true
}

# compose_settings: prints the names that the compose files take from the shell or .env.
# shellcheck disable=SC2016 # text of the compose files
compose_settings() {
  grep -ohE '\$\{[A-Z][A-Z0-9_]*|^ +[A-Z][A-Z0-9_]*:$' docker-compose.yml deploy/images.yml | tr -d ' ${:' | sort -u
}

# health_path: prints the path of the app's health check.
health_path() { echo "$(setting BASE_PATH)$(setting HEALTH_PATH /healthz)"; }

# error_lines: prints a log without stack frames and what Node adds, so that its last line says why a process ended.
error_lines() { grep -a '[[:alnum:]]' | grep -avE '^[[:space:]]+(at |[a-z]+: )|^Node\.js v|^[[:space:]]*[]}^]'; }

# project_name: prints the compose project's name.
project_name() { echo "${COMPOSE_PROJECT_NAME:-$(docker compose config | sed -n 's/^name: //p')}"; }

# tools_image: prints an image with Node and tar: what the spool is built on, or in a release its spool.
tools_image() {
  deploy/bare-machine/base-images.sh proxy/spool/Dockerfile | grep . || docker compose config --images spool
}
