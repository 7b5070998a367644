# shellcheck shell=sh
# Jobs in the background, and what is left of a run when it ends. Sourced after suites.sh.

running='' started_jobs=0 started_engine=

# background COMMAND...: runs the command in the background. A job that does not reach its end counts as one failure.
background() {
  started_jobs=$((started_jobs + 1))
  # shellcheck disable=SC2154 # the caller's
  echo "$*" >"$results/$started_jobs.unfinished"
  { "$@"; rm "$results/$started_jobs.unfinished"; } &
  running="$running $!"
}

# join: waits for all jobs.
join() {
  # shellcheck disable=SC2086 # several
  wait $running
  running=''
}

# kill_tree PID: kills a process, then its descendants: a job whose suite ended first would begin the next one.
kill_tree() {
  children=$(pgrep -P "$1")
  kill "$1" 2>/dev/null
  for child in $children; do (kill_tree "$child"); done
}

# take_down: removes the stack of this environment.
take_down() {
  docker compose --profile '*' down --volumes
  # WEB_EGRESS and WEB_IMAGE select one of two networks; compose removes the one of its current settings only.
  docker network ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" | xargs -r docker network rm
}

# clean_up: ends the jobs, removes all stacks and what interrupted tests left, and stops the engine if this run started
# it.
clean_up() {
  for job in $running; do kill_tree "$job"; done
  join
  {
    for number in 20 40 60 80 100; do (other_stack "$number" && take_down); done
    take_down
    label="label=culvert.test=$CULVERT_TEST_RUN"
    docker ps -aq --filter "$label" | xargs -r docker rm -f -v
    docker network ls -q --filter "$label" | xargs -r docker network rm
    docker volume ls -q --filter "$label" | xargs -r docker volume rm
  } >/dev/null 2>&1
  [ -z "$started_engine" ] || kill "$(cat /var/run/docker.pid)"
}
