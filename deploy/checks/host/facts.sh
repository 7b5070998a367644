# shellcheck shell=sh
# What only the host knows about the running stack, for the programs of this folder. Sourced after deploy/lib.sh,
# in the repository's root.

. deploy/settings/check.sh

# facts: prints sections that begin with "== NAME" (facts.ts reads them). Values of settings are among them: for a pipe,
# not for a terminal.
facts() {
  section config docker compose config --format json
  # shellcheck disable=SC2086 # a list
  section containers docker inspect $stack_ids
  section env-file saved_names
  for id in $stack_ids; do section "why $id" reason "$id"; done
  section unread unread_names
  section spaced spaced_names
  section unreadable unreadable_files
  section log docker compose logs --no-log-prefix --no-color --since 5m --tail 20000 proxy
}

# section NAME COMMAND...: prints the command's output below its name; a command that fails leaves its section empty or
# short.
section() {
  printf '\n== %s\n' "$1"
  shift
  { "$@" 2>/dev/null || true; } | sed 's/^== / &/'
}

# spaced_names: prints the names of settings whose value begins or ends with white space.
spaced_names() {
  { compose_settings; saved_names; } | sort -u | while read -r name; do
    case $(setting "$name") in [[:space:]]* | *[[:space:]]) echo "$name" ;; esac
  done
}

# unreadable_files: prints the settings whose file the proxy cannot read.
unreadable_files() {
  # shellcheck disable=SC2016 # the container's variables
  [ -z "$(setting TLS_CERT_FILE)" ] || docker compose exec -T proxy sh -c '
    [ -r "$TLS_CERT_FILE" ] || echo TLS_CERT_FILE; [ -r "$TLS_KEY_FILE" ] || echo TLS_KEY_FILE'
}

# run_in NETWORK PROGRAM [OPTION]: runs a program of this folder in a container that sees these sources and nothing else
# of the repository: of the spool's image and within the stack's networks (`stack`), or in another network.
run_in() {
  network=$1 program=/culvert/deploy/checks/host/$2 option=${3:-}
  set -- --rm --user "$(id -u):$(id -g)" --volume "$PWD/deploy/checks:/culvert/deploy/checks:ro" \
    --env "PAGE=${PAGE:-}" --entrypoint node
  if [ "$network" = stack ]; then
    COMPOSE_IGNORE_ORPHANS=1 docker compose --progress quiet run -T --no-deps "$@" spool "$program" ${option:+"$option"}
  else
    docker run --interactive --read-only --cap-drop=ALL --security-opt=no-new-privileges --network "$network" \
      --env BASE_URL --env SENTRY_DSN --env TUNNEL_PATH --env BASE_PATH \
      "$@" "$(tools_image)" "$program" ${option:+"$option"}
  fi
}

# tools_image: prints an image with Node: what the spool is built on, or in a release its spool.
tools_image() {
  deploy/bare-machine/base-images.sh proxy/spool/Dockerfile | grep . || docker compose config --images spool
}

# need_stack: dies when no engine answers, compose cannot read its files, or nothing runs.
need_stack() {
  has docker || die "docker: not found: install it, or run make up"
  check_settings
  check_compose
  stack_ids=$(docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$(project_name)" \
    --filter label=com.docker.compose.oneoff=False)
  [ -n "$stack_ids" ] ||
    die "the stack is not running: start it first (make up), or check an address from outside:" \
      "BASE_URL=https://app.example.com make doctor"
}
