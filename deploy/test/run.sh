#!/bin/sh
# All checks of `make test`. Its last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. deploy/host/lib.sh
. deploy/host/apt.sh
. deploy/test/stack.sh

results=$(mktemp -d)
export CI=true FORCE_COLOR=0 NO_COLOR=1 CULVERT_TEST_RUN="$$"

# record passed|failed|skipped NAME: records and prints the result of a check.
record() {
  echo "$1 $2" >>"$results/checks"
  say "    $1: $2"
}

# check NAME COMMAND...: records passed or failed by the command's exit status; prints its output only if it fails.
check() {
  name=$1
  shift
  if "$@" >"$results/output" 2>&1; then record passed "$name"; else
    cat "$results/output"
    record failed "$name"
  fi
}

projects='web web/e2e loadtest loadtest/bench proxy/spool proxy/test deploy/test deploy/kubernetes/test'

# vitest FOLDER, playwright NAME ARGUMENT...: run the folder's tests, or those of web/e2e that the arguments select. Every test counts; a
# run that fails without a failed test (a crash, a file that does not load) counts as one failure.
vitest() {
  report=$results/$(echo "$1" | tr / -).json
  npm --prefix "$1" test -- --reporter=default --reporter=json --outputFile.json="$report" || echo "$1" >>"$report.failed-run"
}
spool_units() {
  REPORTS=$results npm --prefix proxy/spool run test:units -- --reporter=default --reporter=json --outputFile.json="$results/units.json" ||
    echo proxy/spool/src >>"$results/units.json.failed-run"
}
playwright() {
  name=$1 report=$results/$1.json
  shift
  PLAYWRIGHT_JSON_OUTPUT_NAME=$report npm --prefix web/e2e test -- --reporter=list,json --output="test-results/$name" "$@" || echo "$name" >>"$report.failed-run"
}

other_settings() {
  export TUNNEL_PATH=/of/your-own SENTRY_RELEASE=culvert@other SENTRY_DSN=http://culvert@recorder:9000/below/a/prefix/77
  docker compose up --no-build --wait --quiet-pull || { record failed "the stack comes up with other settings" && false; }
}

# Checks that need no container.
static_checks() {
  for folder in $projects; do
    check "$folder: types" npm --prefix "$folder" run typecheck
    check "$folder: lint" npm --prefix "$folder" run lint
  done
  for folder in web loadtest loadtest/bench; do vitest "$folder"; done
}

shellcheck_all() { git ls-files '*.sh' | xargs shellcheck -x --source-path=SCRIPTDIR; }

# background NAME COMMAND...: runs the command in the background; join prints its output.
background() {
  name=$1
  shift
  "$@" >"$results/$name.output" 2>&1 &
  running="$running $!"
}
join() {
  # shellcheck disable=SC2086 # several
  wait $running
  running=''
  cat "$results"/*.output
  rm "$results"/*.output
}

# kill_tree PID: kills a process and its descendants.
kill_tree() {
  for child in $(pgrep -P "$1"); do kill_tree "$child"; done
  kill "$1" 2>/dev/null
}

clean_up() {
  for job in $running; do kill_tree "$job"; done
  docker compose --profile '*' down --volumes >/dev/null 2>&1
  # WEB_EGRESS and WEB_IMAGE select one of three networks; compose removes the one of its current settings only.
  docker network ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" | xargs -r docker network rm >/dev/null 2>&1
  # Left over from interrupted tests of this run.
  label="label=culvert.test=$CULVERT_TEST_RUN"
  docker ps -aq --filter "$label" | xargs -r docker rm -f -v >/dev/null 2>&1
  docker network ls -q --filter "$label" | xargs -r docker network rm >/dev/null 2>&1
  docker volume ls -q --filter "$label" | xargs -r docker volume rm >/dev/null 2>&1
  [ -z "$started_engine" ] || kill "$(cat /var/run/docker.pid)"
}

running='' started_engine=
docker version >/dev/null 2>&1 || started_engine=yes
trap clean_up EXIT
trap 'exit 130' INT TERM

has shellcheck || { can_install && step "shellcheck" debian_install shellcheck; }
if has shellcheck; then check "shell scripts" shellcheck_all; else record skipped "shell scripts (no shellcheck here)"; fi

# On a new machine: the engine, the base images and the build.
sh deploy/host/up.sh >"$results/up" 2>&1 &
running=$!
for folder in $projects; do check "$folder: install" npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund; done
wait "$running" || record failed "the stack comes up"
running=''
cat "$results/up"

# In the background: downloads, outages of a minute and a browser that waits for them, which need little processor time.
background browser sh deploy/host/browser.sh
vitest proxy/test
join
CHROMIUM_PATH=$(sh deploy/host/browser.sh) || record failed "a browser"
export CHROMIUM_PATH
[ -n "$CHROMIUM_PATH" ] || npx --prefix web/e2e playwright install chromium

background outage playwright outage --project=outage
background kubernetes vitest deploy/kubernetes/test
vitest proxy/spool
join
spool_units
# After a failed test the apps are started again: three failures are enough.
background matrix playwright matrix --project=matrix --max-failures=3
playwright together --project=together
join
background static static_checks
playwright alone --project=alone --no-deps
join
# The same images with other settings: settings reach server and browser at run time.
other_settings && playwright other-settings browser-errors
if has k6; then
  check "loadtest: smoke" env BASE_URL="https://localhost:$HTTPS_PORT" SSL_CERT_FILE=".culvert/$COMPOSE_PROJECT_NAME/dev-ca.crt" sh loadtest/run.sh
else
  record skipped "loadtest: smoke (no k6 here)"
fi
# Last, because it leaves the stack with another release.
vitest deploy/test

node deploy/test/totals.mjs "$results"
