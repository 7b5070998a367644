# shellcheck shell=sh
# Functions that the scripts share. Sourced.

# Debian's PATH of a normal user lacks these.
PATH=$PATH:/usr/sbin:/sbin

# say TEXT...: prints one line of progress to stderr; stdout is for results.
say() { printf '%s\n' "$*" >&2; }

# notify_failures COMMAND: from now on, NOTIFY_URL hears of it when this script fails: of die's line, else that it failed. 130: Ctrl-C.
notify_failures() { failing=$1; trap notify_failure EXIT; }
notify_failure() { case $? in 0 | 130) ;; *) [ -z "$failing" ] || deploy/host/notify.sh "$failing failed: its output says why" ;; esac; }

# die TEXT...: prints one line with the problem and its fix, and exits with status 1.
die() {
  say "culvert: $*"
  [ -z "${failing:-}" ] || deploy/host/notify.sh "$failing failed: $*"
  failing=
  exit 1
}

# has COMMAND: whether COMMAND is on PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# first_of LIST: prints the first item of a list that is separated by spaces or commas, as the proxy reads SERVER_NAME, or nothing.
first_of() { printf '%s\n' "$1" | sed -e 's/^[ ,]*//' -e 's/[ ,].*//'; }

# step NAME COMMAND...: prints NAME, runs COMMAND and prints how long it took. Not in a condition, where `set -e` ends nothing.
step() {
  step_name=$1; shift
  step_start=$(date +%s)
  say "==> $step_name"
  "$@"
  say "    $step_name: $(($(date +%s) - step_start)) s"
}

# setting NAME [DEFAULT]: prints NAME's value as compose finds it: in the shell, else in .env (or COMPOSE_ENV_FILES), else DEFAULT.
setting() {
  eval "setting_given=\${$1+yes} setting_value=\${$1-}"
  if [ -z "$setting_given" ]; then
    setting_value=$(IFS=,
      for file in ${COMPOSE_ENV_FILES:-${root:-.}/.env}; do
        [ ! -r "$file" ] || sed -n -e 's/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}'"$1"'[[:space:]]*=[[:space:]]*//' -e 't value' -e b -e ':value' \
          -e 's/[[:cntrl:]]$//' -e 's/^"\([^"]*\)".*$/\1/' -e 't print' -e "s/^'\([^']*\)'.*$/\1/" -e 't print' \
          -e 's/[[:space:]]\{1,\}#.*$//' -e 's/[[:space:]]*$//' -e ':print' -e p "$file"
      done)
    # The last one wins.
    setting_value=${setting_value##*"
"}
  fi
  printf '%s\n' "${setting_value:-${2:-}}"
}

# health_path: prints the path of the app's health check.
health_path() { echo "$(setting BASE_PATH)$(setting HEALTH_PATH /healthz)"; }

# words: prints the lines of a log whose last one says why a process ended: without stack frames and what Node adds below an error.
words() { grep -a '[[:alnum:]]' | grep -avE '^[[:space:]]+(at |[a-z]+: )|^Node\.js v|^[[:space:]]*[]}^]'; }

# project_name: prints the compose project's name.
project_name() { echo "${COMPOSE_PROJECT_NAME:-$(docker compose config | sed -n 's/^name: //p')}"; }

# tools_image: prints an image with Node and tar that the stack needs anyway: of a release its spool, else what the spool is built on.
tools_image() {
  tools_released=$(docker compose config spool 2>/dev/null | sed -n 's/^ *WEB_IMAGE: //p' | head -n 1)
  printf '%s\n' "${tools_released:-$(deploy/bare-machine/base-images.sh proxy/spool/Dockerfile)}"
}

# export_build_settings: exports what a build gets besides the settings: the key that all builds share, and the release, which for an image of
# your own is its name and tag. With the containerd image store, a default attestation would give each build another image id, and unchanged
# containers would be replaced (https://github.com/docker/compose/issues/14111).
export_build_settings() {
  web_image=$(setting WEB_IMAGE)
  [ -z "$web_image" ] || docker image inspect "$web_image" >/dev/null 2>&1 || docker pull --quiet "$web_image" >&2 ||
    die "WEB_IMAGE: $web_image is not on this machine and cannot be pulled: build it, or log in to its registry"
  actions_key=$(deploy/host/server-actions-key.sh)
  SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$actions_key")
  export SERVER_ACTIONS_KEY_FILE BUILDX_NO_DEFAULT_ATTESTATIONS=1
  release=$(setting SENTRY_RELEASE "$(default_release)")
  [ -z "$release" ] || export SENTRY_RELEASE="$release"
}

# default_release: prints the release for which no SENTRY_RELEASE is set: the commit of web/, or the tag of WEB_IMAGE (of latest: its image id), unless
# the image has one of its own.
default_release() {
  default_image=$(setting WEB_IMAGE)
  if [ -z "$default_image" ]; then
    git rev-parse --short HEAD 2>/dev/null || true
    return
  fi
  ! docker image inspect --format '{{json .Config.Env}}' "$default_image" 2>/dev/null | grep -q '"SENTRY_RELEASE=' || return 0
  default_name=${default_image##*/}
  case ${default_name%:latest} in
    *@*) default_tag=$(printf '%.12s' "${default_name##*:}") ;;
    *:*) default_tag=${default_name##*:} ;;
    *) default_tag=$(short_id "$default_image") ;;
  esac
  printf '%s@%s\n' "${default_name%%[:@]*}" "$default_tag"
}
short_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null | cut -c 8-19; }
