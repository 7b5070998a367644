# shellcheck shell=sh
# What only the host knows about the running stack, for the programs of this folder. Sourced after deploy/host/lib.sh, in the repository's root.

# facts: prints sections that begin with "== NAME" (facts.ts reads them). Values of settings are among them: for a pipe, not for a terminal.
facts() {
  setting_facts
  for id in $stack_ids; do section "$id" last_lines "$id"; done
  section known known_names
  section log docker compose logs --no-log-prefix --no-color --since 5m --tail 20000 proxy
}

# setting_facts: prints the sections that tell which settings the containers run with and which there are now.
setting_facts() {
  section config docker compose config --format json
  # shellcheck disable=SC2086 # a list
  section containers docker inspect $stack_ids
  # shellcheck disable=SC2046,SC2086
  section images docker image inspect $(docker inspect --format '{{.Image}}' $stack_ids | sort -u)
  section environment awk 'BEGIN { for (name in ENVIRON) print name }'
  section env-file sed -n 's/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}\([A-Za-z_][A-Za-z0-9_]*\)[[:space:]]*=.*/\2/p' "${COMPOSE_ENV_FILES:-.env}"
}

# section NAME COMMAND...: prints the command's output below its name; a command that fails leaves its section empty or short.
section() {
  printf '\n== %s\n' "$1"
  shift
  { "$@" 2>/dev/null || true; } | sed 's/^== / &/'
}

# last_lines CONTAINER: prints the last words of its log but the proxy's requests; if it was restarted, those before its last start.
last_lines() {
  until=$(docker inspect --format '{{if and .RestartCount (eq .State.Status "running")}}{{.State.StartedAt}}{{end}}' "$1")
  docker logs --tail 200 ${until:+--until "$until"} "$1" 2>&1 | grep -v '^{"time":.*"request_id"' | words | tail -n 30 | cut -c 1-1000
}

# known_names: prints the names that the compose files and the scripts of this repository read.
known_names() {
  setting COMPOSE_FILE docker-compose.yml:docker-compose.override.yml | tr ':' '\n' | while IFS= read -r file; do
    [ ! -r "$file" ] || sed -e '/^ *#/d' "$file" | grep -oE '[A-Z][A-Z0-9_]+'
  done
  grep -rohE '(setting |\$\{)[A-Z][A-Z0-9_]+' --include='*.sh' deploy | sed 's/.*[ {]//'
}

# in_stack PROGRAM [--json]: runs a program of this folder in a container of the spool's image, within the stack's networks.
in_stack() { run_in stack "$@"; }

# run_in NETWORK PROGRAM [--json]: the same in another network and outside of the stack. It sees these sources and nothing else of the repository.
run_in() {
  network=$1 program=/culvert/deploy/doctor/$2 json=${3:-}
  set -- --rm --user "$(id -u):$(id -g)" --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" \
    --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" --env "PAGE=${PAGE:-}" --entrypoint node
  if [ "$network" = stack ]; then
    COMPOSE_IGNORE_ORPHANS=1 docker compose --progress quiet run -T --no-deps "$@" spool "$program" ${json:+"$json"}
  else
    docker run --interactive --read-only --cap-drop=ALL --security-opt=no-new-privileges --network "$network" \
      --env BASE_URL --env SENTRY_DSN --env TUNNEL_PATH --env BASE_PATH "$@" "$(tools_image)" "$program" ${json:+"$json"}
  fi
}

# need_stack: dies when no engine answers, compose can't read its files, or nothing runs.
need_stack() {
  has docker || die "docker: not found: install it, or run make up"
  # Standard error apart: a warning of compose is no container.
  stack_ids=$(docker compose ps --all --quiet 2>/dev/null) ||
    die "docker compose: $(docker compose ps --all --quiet 2>&1 >/dev/null | tail -n 1): check .env and docker-compose.yml"
  [ -n "$stack_ids" ] || die "the stack is not running: start it first (make up), or check an address from outside: BASE_URL=https://app.example.com make doctor"
}
