# shellcheck shell=sh
# Why a container did not get healthy. Sourced.

# reason CONTAINER: prints what its health check was answered last and what to do about it, if it runs; else its last words.
reason() {
  answer=
  if [ "$(docker inspect --format '{{.State.Status}}' "$1")" = running ]; then
    answer=$(docker inspect --format '{{with .State.Health}}{{range .Log}}{{println .Output}}{{end}}{{end}}' "$1" | grep '[^[:space:]]' | tail -n 1)
  fi
  case $answer in
    '') docker logs --tail 1 "$1" 2>&1 | tail -n 1 ;;
    'GET '*) printf '%s: %s\n' "$answer" "$(health_fix "$answer")" ;;
    *) printf '%s\n' "$answer" ;;
  esac
}

# health_fix ANSWER: prints what to do when web's health check (docker-compose.yml) printed ANSWER.
health_fix() {
  case $1 in
    *': status '*) echo "see 'docker compose logs web', or set HEALTH_PATH to a path that answers below 500 (BASE_PATH goes before it)" ;;
    *ECONNREFUSED*) echo "the app must listen on port 3000 on all addresses (PORT=3000 HOSTNAME=0.0.0.0)" ;;
    *) echo "see 'docker compose logs web', or set HEALTH_PATH to a path that answers sooner" ;;
  esac
}
