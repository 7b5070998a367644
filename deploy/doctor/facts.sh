# shellcheck shell=sh
# What only the host knows about the running stack, for the programs of this folder. Sourced after deploy/host/lib.sh, in the repository's root.

# facts: prints sections that begin with "== NAME" (facts.ts reads them). Values of settings are among them: for a pipe, not for a terminal.
facts() {
  setting_facts
  section last-lines last_lines
  section known known_names
  section log docker compose logs --no-log-prefix --no-color --since 5m --tail 20000 proxy
}

# setting_facts: prints the sections that tell which settings the containers run with and which there are now.
setting_facts() {
  facts_ids=$(docker compose ps --all --quiet)
  section config docker compose config --format json
  # shellcheck disable=SC2086 # a list
  section containers docker inspect $facts_ids
  # shellcheck disable=SC2046,SC2086
  section images docker image inspect $(docker inspect --format '{{.Image}}' $facts_ids | sort -u)
  section environment awk 'BEGIN { for (name in ENVIRON) print name }'
  section env-file sed -n 's/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}\([A-Za-z_][A-Za-z0-9_]*\)[[:space:]]*=.*/\2/p' "${COMPOSE_ENV_FILES:-.env}"
}

# section NAME COMMAND...: prints the command's output below its name; a command that fails leaves its section empty or short.
section() {
  printf '\n== %s\n' "$1"
  shift
  "$@" 2>/dev/null || true
}

# last_lines: prints the last lines of each container's log but the proxy's requests, after its id; of one that was restarted, those before its last start.
last_lines() {
  for id in $facts_ids; do
    until=
    # shellcheck disable=SC2046 # two words
    set -- $(docker inspect --format '{{.RestartCount}} {{.State.Status}} {{.State.StartedAt}}' "$id")
    [ "$1" = 0 ] || [ "$2" != running ] || until=$3
    docker logs --tail 200 ${until:+--until "$until"} "$id" 2>&1 | grep -v '^{"time":.*"request_id"' | tail -n 30 | cut -c 1-1000 | sed "s/^/$id /"
  done
}

# known_names: prints the names that the compose files and the scripts of this repository read.
known_names() {
  setting COMPOSE_FILE docker-compose.yml:docker-compose.override.yml | tr ':' '\n' | while IFS= read -r file; do
    [ ! -r "$file" ] || sed -e '/^ *#/d' "$file" | grep -oE '[A-Z][A-Z0-9_]+'
  done
  grep -rohE '(setting |\$\{)[A-Z][A-Z0-9_]+' --include='*.sh' deploy | sed 's/.*[ {]//'
}

# in_stack PROGRAM ARGUMENT...: runs a program of this folder in a container of the spool's image, within the stack's networks. It sees these
# sources and nothing else of the repository.
in_stack() {
  program=$1
  shift
  COMPOSE_IGNORE_ORPHANS=1 docker compose --progress quiet run --rm -T --no-deps --user "$(id -u):$(id -g)" \
    --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" \
    --env "PAGE=${PAGE:-}" --entrypoint node spool --disable-warning=ExperimentalWarning "/culvert/deploy/doctor/$program" "$@"
}

# run_alone NETWORK PROGRAM ARGUMENT...: the same in a container of the image that the spool is built on, outside of the stack.
run_alone() {
  network=$1 program=$2
  shift 2
  docker run --rm --interactive --user "$(id -u):$(id -g)" --read-only --cap-drop=ALL --security-opt=no-new-privileges --network "$network" \
    --volume "$PWD/deploy/doctor:/culvert/deploy/doctor:ro" --volume "$PWD/proxy/spool/src:/culvert/proxy/spool/src:ro" \
    --env PAGE --env BASE_URL --env SENTRY_DSN --env TUNNEL_PATH --env BASE_PATH --env HEALTH_PATH \
    --entrypoint node "$(tools_image)" --disable-warning=ExperimentalWarning "/culvert/deploy/doctor/$program" "$@"
}

# need_stack: dies when no engine answers, compose can't read its files, or nothing runs.
need_stack() {
  has docker || die "docker: not found: install it, or run make up"
  # Standard error apart: a warning of compose is no container.
  stack_ids=$(docker compose ps --all --quiet 2>/dev/null) ||
    die "docker compose: $(docker compose ps --all --quiet 2>&1 >/dev/null | tail -n 1): check .env and docker-compose.yml"
  [ -n "$stack_ids" ] || die "the stack is not running: start it first (make up), or check an address from outside: BASE_URL=https://app.example.com make doctor"
}
