# shellcheck shell=sh
# What only the host knows about the running stack. Sourced after deploy/lib.sh, in the repository's root.

. deploy/settings/check.sh

# facts: prints sections that begin with "== NAME", for facts.ts. They have values of settings: not for a terminal.
facts() {
  section config printf '%s\n' "$config"
  # shellcheck disable=SC2086 # a list
  section containers docker inspect $stack_ids
  section env-file saved_names
  for id in $(with_reason); do section "why $id" diagnose "$id"; done
  section unread unread_names
  section spaced spaced_names
  section unreadable unreadable_files
  section log docker compose logs --no-log-prefix --no-color --since 5m --tail 20000 proxy
}

# with_reason: prints the containers that are not healthy or were started again, and acme's, whose log says more.
with_reason() {
  # shellcheck disable=SC2086 # a list
  docker inspect $stack_ids --format '{{.ID}} {{.State.Status}} {{.RestartCount}} {{
    index .Config.Labels "com.docker.compose.service"}} {{with .State.Health}}{{.Status}}{{end}}' |
    awk '$2 != "running" || $3 > 0 || $4 == "acme" || ($5 && $5 != "healthy") { print $1 }'
}

# section NAME COMMAND...: prints the command's output below its name, as far as it gets.
section() {
  printf '\n== %s\n' "$1"
  shift
  { "$@" 2>/dev/null || true; } | sed 's/^== / &/'
}

# spaced_names: prints the settings whose value begins or ends with white space.
spaced_names() {
  { compose_settings; saved_names; } | sort -u | while read -r name; do
    case $(setting "$name" '') in [[:space:]]* | *[[:space:]]) echo "$name" ;; esac
  done
}

# unreadable_files: prints the settings whose file the proxy cannot read.
unreadable_files() {
  # shellcheck disable=SC2016 # the container's variables
  [ -z "$(setting TLS_CERT_FILE)" ] || docker compose exec -T proxy sh -c '
    [ -r "$TLS_CERT_FILE" ] || echo TLS_CERT_FILE; [ -r "$TLS_KEY_FILE" ] || echo TLS_KEY_FILE'
}

# run_in NETWORK PROGRAM [OPTION]: runs a program of this folder in a container that sees only these sources: in the
# stack's networks (`stack`), of the spool's image, or in another network.
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

# tools_image: prints an image with Node: the spool's base, or in a release the spool.
tools_image() {
  deploy/bare-machine/base-images.sh proxy/spool/Dockerfile | grep . || docker compose config --images spool
}

# need_stack: dies without docker, readable compose files, or a container of the project.
need_stack() {
  has docker || die "docker: not found: install it, or run make up"
  check_settings
  check_compose --format json
  : "${COMPOSE_PROJECT_NAME:=$(printf '%s\n' "$config" | sed -n 's/^  "name": "\(.*\)",$/\1/p')}"
  stack_ids=$(docker ps --all --quiet --no-trunc --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" \
    --filter label=com.docker.compose.oneoff=False)
  [ -n "$stack_ids" ] ||
    die "the stack is not running: start it first (make up), or check an address from outside:" \
      "BASE_URL=https://app.example.com make doctor"
}
