# shellcheck shell=sh
# Why a container did not become healthy. Sourced.

# reason CONTAINER: prints the last output of its health check with a fix if it runs, else the last line of its log; also if that check
# had succeeded, because then it has crashed.
reason() {
  output=
  if [ "$(docker inspect --format '{{.State.Status}}' "$1")" = running ]; then
    output=$(docker inspect --format '{{with .State.Health}}{{range .Log}}{{println .Output}}{{end}}{{end}}' "$1" | grep '[^[:space:]]' | tail -n 1)
  fi
  # The engine's own output, of a check at the moment when the container ended, is no reason.
  case $output in
    '' | 'OCI runtime exec failed'* | 'GET '*': status '[1-4]*) docker logs --tail 1 "$1" 2>&1 | tail -n 1 ;;
    'GET '*) printf '%s: %s\n' "$output" "$(health_fix "$output")" ;;
    *) printf '%s\n' "$output" ;;
  esac
}

# health_fix OUTPUT: prints what to do if web's health check (docker-compose.yml) printed OUTPUT.
health_fix() {
  case $1 in
    *': status '*) echo "see 'docker compose logs web', or set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)" ;;
    *ECONNREFUSED*) echo "the app must listen on port 3000 on all addresses (PORT=3000 HOSTNAME=0.0.0.0)" ;;
    *) echo "see 'docker compose logs web', or set HEALTH_PATH to a path that answers faster" ;;
  esac
}
