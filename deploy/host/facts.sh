# shellcheck shell=sh
# What only the host knows about the running stack, for the programs in deploy/doctor. Sourced after lib.sh and settings.sh, in the
# repository's root.

FORGED_CLIENT=192.0.2.77 # as in deploy/doctor/facts.ts
WINDOW=5m

# facts: prints sections that begin with "== NAME" (deploy/doctor/facts.ts reads them). Values of settings are among them: for a pipe,
# not for a terminal.
facts() {
  section forged-request forge_client
  setting_facts
  # shellcheck disable=SC2086 # a list
  section memory docker stats --no-stream --format '{{.ID}} {{.MemPerc}}' $facts_ids
  section known known_names
  section images base_image_ages
  section versions versions
  proxy_log --since "$WINDOW" | summarize_log
  section last-accepted last_accepted
}

# setting_facts: prints the sections that tell which settings the containers run with and which there are now.
setting_facts() {
  facts_ids=$(docker compose ps --all --quiet)
  section config docker compose config --format json
  # shellcheck disable=SC2086 # a list
  section containers docker inspect $facts_ids
  # shellcheck disable=SC2046,SC2086
  section image-environment docker image inspect --format '{{.Id}} {{json .Config.Env}}' $(docker inspect --format '{{.Image}}' $facts_ids | sort -u)
  section environment awk 'BEGIN { for (name in ENVIRON) print name }'
  section env-file names_in_file
}

# section NAME COMMAND...: prints the command's output below its name; a command that fails leaves its section empty or short.
section() {
  printf '\n== %s\n' "$1"
  shift
  "$@" 2>/dev/null || true
}

proxy_log() { docker compose logs --no-log-prefix --no-color "$@" proxy 2>/dev/null || true; }

# forge_client: asks the proxy for a page that no app has, from itself, with a client address that it must not believe. As every request
# of ours to the app, it belongs to a trace that is not sampled (-0): Sentry's SDK records nothing of it.
forge_client() {
  site=$(first_of "$(docker compose exec -T proxy printenv SERVER_NAME)")
  # shellcheck disable=SC2016 # the container's variables
  docker compose exec -T proxy sh -c '
    site=$1 forged=$2; shift 2
    [ "${PROXY_PROTOCOL:-off}" = off ] || set -- --haproxy-protocol
    curl -sk -m 10 -o /dev/null "$@" --resolve "$site:8443:127.0.0.1" -H "X-Forwarded-For: $forged" \
      -H "sentry-trace: $(tr -d - </proc/sys/kernel/random/uuid)-0123456789abcdef-0" "https://$site:8443/culvert-doctor-client"' \
    sh "${site:-localhost}" "$FORGED_CLIENT" && wait_for_log
}

# wait_for_log: returns once the proxy has logged the request of forge_client, or after some seconds.
wait_for_log() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    proxy_log --since 1m | grep -q '"path":"/culvert-doctor-client"' && return
    sleep 0.5
  done
}

# summarize_log: prints the sections `outcomes`, `clients`, `upgrades` and `forged` for the proxy's log at standard input.
summarize_log() {
  awk '
    function field(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5) : "" }
    /"outcome":"/ { outcomes[field("outcome") " " field("reason")]++; next }
    /"path":"\/culvert-doctor-client"/ { forged = field("client"); next }
    /"reason":"upgrade_refused"/ { upgrades[field("path")]++ }
    /"path":"/ { clients[field("client")]++ }
    END {
      print ""; print "== outcomes"; for (key in outcomes) print outcomes[key], key
      print "== clients"; for (key in clients) print clients[key], key
      print "== upgrades"; for (key in upgrades) print upgrades[key], key
      print "== forged"; print forged
    }'
}

last_accepted() { proxy_log --tail 10000 | sed -n '/"outcome":"accepted"/s/.*"time":"\([^"]*\)".*/\1/p' | tail -n 1; }

# names_in_file: prints the names that .env sets.
names_in_file() {
  sed -n 's/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}\([A-Za-z_][A-Za-z0-9_]*\)[[:space:]]*=.*/\2/p' "${COMPOSE_ENV_FILES:-.env}"
}

# compose_files: prints the paths of the compose files in use, one per line.
compose_files() {
  setting COMPOSE_FILE docker-compose.yml:docker-compose.override.yml | tr ':' '\n' |
    while IFS= read -r file; do [ ! -r "$file" ] || printf '%s\n' "$file"; done
}

# known_names: prints the names that the compose files and the scripts of this repository read.
known_names() {
  {
    compose_files | while IFS= read -r file; do sed -e '/^ *#/d' "$file" | grep -oE '[A-Z][A-Z0-9_]+'; done
    grep -ohE '(setting |\$\{)[A-Z][A-Z0-9_]+' deploy/host/*.sh deploy/airgap/*.sh | sed 's/.*[ {]//'
  } | sort -u
}

base_image_ages() {
  for image in $(deploy/host/base-images.sh); do
    created=$(docker image inspect --format '{{.Created}}' "$image") && echo "$image $created"
  done
}

versions() {
  echo "Culvert $(git describe --always --dirty 2>/dev/null || echo unknown)"
  echo "Docker $(docker version --format '{{.Server.Version}}')"
  echo "Compose $(docker compose version --short)"
}

# in_stack PROGRAM ARGUMENT...: runs a program of deploy/doctor in a container of the spool's image, within the stack's networks. It sees
# these sources and nothing else of the repository.
in_stack() {
  program=$1
  shift
  COMPOSE_IGNORE_ORPHANS=1 docker compose --progress quiet run --rm -T --no-deps --user "$(id -u):$(id -g)" \
    --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" \
    --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" \
    --volume "$PWD/proxy/entrypoint.d:/culvert/proxy/entrypoint.d:ro" \
    --env "PAGE=${PAGE:-}" \
    --entrypoint node spool --disable-warning=ExperimentalWarning "/culvert/deploy/doctor/$program" "$@"
}

# run_alone OPTION... PROGRAM ARGUMENT...: the same in a container of the image that the spool is built on, outside of the stack. Options
# of `docker run` come in pairs.
run_alone() {
  alone_options=
  while [ "${1#--}" != "$1" ]; do
    alone_options="$alone_options $1 $2"
    shift 2
  done
  program=$1
  shift
  # shellcheck disable=SC2086 # options
  docker run --rm --interactive --user "$(id -u):$(id -g)" --read-only --cap-drop=ALL --security-opt=no-new-privileges $alone_options \
    --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" \
    --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" \
    --volume "$PWD/proxy/entrypoint.d:/culvert/proxy/entrypoint.d:ro" \
    --env PAGE --env BASE_URL --env SENTRY_DSN --env TUNNEL_PATH --env BASE_PATH --env HEALTH_PATH \
    "$(deploy/host/base-images.sh proxy/spool/Dockerfile)" \
    node --disable-warning=ExperimentalWarning "/culvert/deploy/doctor/$program" "$@"
}

# need_stack: dies when no engine answers, compose can't read its files, or nothing runs.
need_stack() {
  has docker || die "docker: not found: install it, or run make up"
  # Standard error apart: a warning of compose is no container.
  stack_ids=$(docker compose ps --all --quiet 2>/dev/null) ||
    die "docker compose: $(docker compose ps --all --quiet 2>&1 >/dev/null | tail -n 1): check .env and docker-compose.yml"
  [ -n "$stack_ids" ] || die "the stack is not running: start it first (make up), or check an address from outside: BASE_URL=https://app.example.com make doctor"
}
