# shellcheck shell=sh
# Functions that the scripts share. Sourced.

# Debian's PATH of a normal user lacks these.
PATH=$PATH:/usr/sbin:/sbin

# say TEXT...: prints one line of progress to stderr; stdout is for results.
say() { printf '%s\n' "$*" >&2; }

# notify_failures COMMAND: from now on, a failure of this script, with die's line, is posted to NOTIFY_URL as Slack,
# Mattermost and Google Chat read it. 130: Ctrl-C.
notify_failures() { failing=$1; trap notify_failure EXIT; }
notify_failure() {
  case ${1:-$?} in 0 | 130) return 0 ;; esac
  url=$(setting NOTIFY_URL)
  [ -n "$url" ] || return 0
  text=$(printf 'culvert on %s: %s failed: %s' "$(hostname)" "$failing" "${died:-its output says why}" |
    LC_ALL=C tr -s '\000-\037' ' ' | sed 's/[\\"]/\\&/g')
  # The address is a secret: not an argument, which other users of this machine can read.
  printf 'url = "%s"\n' "$url" | curl -sS -m 10 -o /dev/null --fail -K - -H 'Content-Type: application/json' \
    --data "{\"text\": \"$text\"}" >&2 || say "culvert: NOTIFY_URL: the notification was not accepted: see above"
}

# die TEXT...: prints one line with the problem and its fix, and exits with status 1.
die() { died=$*; say "culvert: $*"; exit 1; }

# has COMMAND: whether COMMAND is on PATH.
has() { command -v "$1" >/dev/null 2>&1; }

# first_of LIST: prints the first item, if any, of a list separated by spaces or commas, as SERVER_NAME is.
first_of() { printf '%s\n' "$1" | sed -e 's/^[ ,]*//' -e 's/[ ,].*//'; }

# step NAME COMMAND...: prints NAME, runs COMMAND, prints how long it took. Not in a condition, where `set -e` is off.
step() {
  step_name=$1 step_start=$(date +%s); shift
  say "==> $step_name"
  "$@"
  say "    $step_name: $(($(date +%s) - step_start)) s"
}

# setting NAME [DEFAULT]: prints NAME's value of the shell, of .env (or COMPOSE_ENV_FILES), else DEFAULT ('': none),
# else that of settings.json.
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
  printf '%s\n' "${setting_value:-${2-$(sed -n "s|^$1=||p" "${root:-.}"/deploy/settings/defaults.env)}}"
}

# has_web: whether web is part of the stack (WEB).
has_web() { [ "$(setting WEB)" = on ]; }

# assigned NAME: prints the regular expression of the part of a line that sets NAME in .env. Group 1: `export`.
assigned() { echo '^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}'"$1"'[[:space:]]*='; }

# compose_settings: prints the names that the compose files take from the shell or .env.
# shellcheck disable=SC2016 # text of the compose files
compose_settings() {
  grep -ohE '\$\{[A-Z][A-Z0-9_]*|^ +[A-Z][A-Z0-9_]*:$|^[A-Z][A-Z0-9_]*$' docker-compose.yml deploy/images.yml \
    deploy/web/settings.env | tr -d ' ${:' | sort -u
}

# last_lines CONTAINER [TIME]: prints the end of its log, before TIME. Requests, stack frames and Node's own lines are
# left out: the last line says why a process ended.
last_lines() {
  docker logs --tail 200 ${2:+--until "$2"} "$1" 2>&1 | grep -a '[[:alnum:]]' |
    grep -avE '^\{"time":.*"request_id"|^[[:space:]]+(at |[a-z]+: )|^Node\.js v|^[[:space:]]*[]}^]' |
    tail -n 30 | cut -c 1-1000
}

# inspect CONTAINER: sets what the engine knows. `restarted`: when it was started again, if it runs. `checked`: the last
# line of its health checks, in web after a code.
inspect() {
  inspected=$(docker inspect "$1" --format '{{.State.Status}} {{.State.OOMKilled}} {{.State.ExitCode}} {{
    if and .RestartCount (eq .State.Status "running")}}{{.State.StartedAt}}{{else}}-{{end}} {{
    with .State.Health}}{{.Status}}{{else}}-{{end}} {{index .Config.Labels "com.docker.compose.service"}}
{{.State.Error}}{{with .State.Health}}{{range .Log}}
{{.Output}}{{end}}{{end}}')
  read -r status oom exit_code restarted health service <<STATE
$inspected
STATE
  restarted=${restarted#-}
  error=$(echo "$inspected" | sed -n 2p)
  checked=$(echo "$inspected" | sed 1,2d | grep '[^[:space:]]' | tail -n 1)
}

# reason CONTAINER: prints why it did not start, ended, or is not healthy, with a fix if there is one.
reason() { diagnose "$1" | cut -d ' ' -f 2-; }

# diagnose CONTAINER: prints the reason's code, and the reason.
diagnose() (
  inspect "$1"
  said=$checked
  case $status-$health in
    created-*)
      case $error in
        '') echo 'not-started its container was made, but not started' ;;
        *'already allocated'* | *'already in use'*)
          echo "port-taken ${error##*): }: stop what uses the port, or change HTTPS_PORT, HTTP_PORT or INGEST_PORT" ;;
        *) echo "start-failed $error" ;;
      esac
      return ;;
    running-unhealthy | running-starting) ;;
    *) said= ;;
  esac
  see="see 'docker compose logs web'"
  path="$see, or set HEALTH_PATH to a path that answers"
  case $said in
    # The engine's own output is of a check that the container's end has cut off.
    '' | 'OCI runtime exec failed'* | 'http-ok '*) ;;
    'http-error '*) echo "$said: $path below 500 (BASE_PATH goes before it)"; return ;;
    'elsewhere '*)
      echo "$said: the app must listen on port 3000 on all addresses (PORT=3000 HOSTNAME=0.0.0.0)"; return ;;
    'refused '*) echo "$said: nothing listens on port 3000: $see, or raise START_TIMEOUT"; return ;;
    'slow '*) echo "$said: $path faster"; return ;;
    'broken '*) echo "$said: $see"; return ;;
    *) echo "check $said"; return ;;
  esac
  # `docker inspect` does not know the last death of a container that runs again.
  case $oom-$(docker events --since 1h --until "$(date +%s)" --filter "container=$1" --filter event=oom \
    --filter event=die --format '{{.Action}} {{index .Actor.Attributes "exitCode"}}') in
    true* | *oom* | *'die 137')
      echo 'memory out of memory, or killed: raise its mem_limit (docs/operations.md)'; return ;;
  esac
  line=$(last_lines "$1" "$restarted" | sed -n 's/^[[:space:]]*\(culvert[a-z ]*: \)*//;$p')
  if [ -n "$line" ]; then echo "log $line"; else echo "silent exit status $exit_code, and its log is empty"; fi
)

# state CONTAINER: prints its status, its health, and why the engine did not start it.
state() {
  docker inspect "$1" --format '{{.State.Status}} {{with .State.Health}}{{.Status}}{{end}}{{
    with .State.Error}} {{.}}{{end}}' 2>/dev/null
}
# wait_until_healthy CONTAINER...: waits for one after the other; fails if it cannot start, stops or is unhealthy, and
# prints why. Says every 10 s what it waits for.
wait_until_healthy() {
  start=$(date +%s) last=$start
  for container; do
    while :; do
      now=$(date +%s) state=$(state "$container")
      case $state in
        'running healthy') break ;;
        'running starting' | 'restarting starting') ;;
        # The engine is about to start it.
        'created ' | 'created starting') [ $((now - start)) -lt 60 ] || { reason "$container"; return 1; } ;;
        *) reason "$container"; return 1 ;;
      esac
      [ $((now - last)) -lt 10 ] || { last=$now; say_waiting "$container" $((now - start)); }
      sleep 0.25
    done
  done
}

# say_waiting CONTAINER SECONDS: says how its last health check ended, and the last line of its log.
say_waiting() (
  inspect "$1"
  said=$checked
  if [ "${service%-previous}" = web ]; then
    said=${said#* }
    : "${said:=no answer yet, of at most $(setting START_TIMEOUT)}"
  fi
  logged=$(last_lines "$1" "$restarted" | tail -n 1)
  say "    $service: waiting for $2 s: ${said:-starting}${logged:+; its log: $logged}"
)

get_image() { docker image inspect "$1" >/dev/null 2>&1 || docker pull --quiet "$1" >&2; }
# get_web_image IMAGE: pulls WEB_IMAGE if it is not here, or dies.
get_web_image() {
  get_image "$1" || die "WEB_IMAGE: $1 is not on this machine and cannot be pulled: build it, or log in to a registry"
}

# variables ID: prints the environment of a container or an image, a variable a line.
variables() { docker inspect --format '{{range .Config.Env}}{{println .}}{{end}}' "$1"; }

# say_replaced CONTAINER: names the variables of its image that compose replaces or removes, unless a setting does so.
say_replaced() {
  image=$(docker inspect --format '{{.Image}}' "$1")
  for name in $(variables "$image" | grep -vxF -e "$(variables "$1")" | sed -n 's/^\([A-Z_]*\)=.*/\1/p'); do
    case $name in
      NODE_EXTRA_CA_CERTS) fix=': append its certificates to the file of INGEST_CA_FILE' ;;
      SERVER_TUNNEL | SPOOL_UPSTREAM) fix= ;;
      *) [ -z "$(setting "$name" '')" ] || continue; fix=': if it is right, put it into .env' ;;
    esac
    say "    compose replaces the image's $name$fix"
  done
}

# prepare_machine: gets the engine and base images that this machine lacks, and exports BUILD_CA_FILE for the builds.
prepare_machine() {
  build_ca=$(deploy/bare-machine/machine.sh)
  BUILD_CA_FILE=$(setting BUILD_CA_FILE "$build_ca")
  export BUILD_CA_FILE
}

# project_name: prints the compose project's name.
project_name() {
  echo "${COMPOSE_PROJECT_NAME:-$(printf '%s\n' "${config:-$(docker compose config)}" |
    sed -n 's/^name: "\{0,1\}\([^"]*\).*/\1/p')}"
}
