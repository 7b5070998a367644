#!/bin/sh
# Everything `make test` checks. Ends with one line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. deploy/host/lib.sh
. deploy/host/apt.sh
. deploy/test/stack.sh

results=$(mktemp -d)
export CI=true FORCE_COLOR=0 NO_COLOR=1 CULVERT_TEST_RUN="$$"

# verdict passed|failed|skipped NAME
verdict() {
  echo "$1 $2" >>"$results/verdicts"
  say "    $1: $2"
}

# check NAME COMMAND...: one verdict by the command's exit status; shows its output only when it fails.
check() {
  name=$1
  shift
  if "$@" >"$results/output" 2>&1; then verdict passed "$name"; else
    cat "$results/output"
    verdict failed "$name"
  fi
}

projects='web web/e2e loadtest loadtest/bench proxy/spool proxy/test deploy/test deploy/kubernetes/test'

# vitest FOLDER, playwright NAME ARGUMENT...: the folder's own tests, or those of web/e2e that the arguments choose; every single one
# counts, and a run that ends badly without naming a failed test (a crash, a file that does not load) counts as one failure of its own.
vitest() {
  report=$results/$(echo "$1" | tr / -).json
  npm --prefix "$1" test -- --reporter=default --reporter=json --outputFile.json="$report" || echo "$1" >>"$report.ended-badly"
}
spool_units() {
  REPORTS=$results npm --prefix proxy/spool run test:units -- --reporter=default --reporter=json --outputFile.json="$results/units.json" ||
    echo proxy/spool/src >>"$results/units.json.ended-badly"
}
playwright() {
  name=$1 report=$results/$1.json
  shift
  PLAYWRIGHT_JSON_OUTPUT_NAME=$report npm --prefix web/e2e test -- --reporter=list,json --output="test-results/$name" "$@" || echo "$name" >>"$report.ended-badly"
}

other_settings() {
  export TUNNEL_PATH=/of/your-own SENTRY_RELEASE=culvert@other SENTRY_DSN=http://culvert@recorder:9000/below/a/prefix/77
  docker compose up --no-build --wait --quiet-pull || { verdict failed "the stack comes up with other settings" && false; }
}

# What needs no container.
static_checks() {
  for folder in $projects; do
    check "$folder: types" npm --prefix "$folder" run typecheck
    check "$folder: lint" npm --prefix "$folder" run lint
  done
  for folder in web loadtest loadtest/bench; do vitest "$folder"; done
}

shellcheck_all() { git ls-files '*.sh' | xargs shellcheck -x --source-path=SCRIPTDIR; }

# aside NAME COMMAND...: runs it in the background; its output is shown by join.
aside() {
  name=$1
  shift
  "$@" >"$results/$name.aside" 2>&1 &
  running="$running $!"
}
join() {
  # shellcheck disable=SC2086 # several
  wait $running
  running=''
  cat "$results"/*.aside
  rm "$results"/*.aside
}

# end PID: a background job and all that it started.
end() {
  for child in $(pgrep -P "$1"); do end "$child"; done
  kill "$1" 2>/dev/null
}

clean_up() {
  for job in $running; do end "$job"; done
  docker compose --profile '*' down --volumes >/dev/null 2>&1
  # What a test that was cut off left behind; others' runs are not ours to end.
  mine="label=culvert.test=$CULVERT_TEST_RUN"
  docker ps -aq --filter "$mine" | xargs -r docker rm -f -v >/dev/null 2>&1
  docker network ls -q --filter "$mine" | xargs -r docker network rm >/dev/null 2>&1
  docker volume ls -q --filter "$mine" | xargs -r docker volume rm >/dev/null 2>&1
  [ -z "$started_engine" ] || kill "$(cat /var/run/docker.pid)"
}

running='' started_engine=
docker version >/dev/null 2>&1 || started_engine=yes
trap clean_up EXIT
trap 'exit 130' INT TERM

has shellcheck || { can_install && step "shellcheck" debian_install shellcheck; }
if has shellcheck; then check "shell scripts" shellcheck_all; else verdict skipped "shell scripts (no shellcheck here)"; fi

# On a new machine: the engine, the base images and the build.
sh deploy/host/up.sh >"$results/up" 2>&1 &
running=$!
for folder in $projects; do check "$folder: install" npm --prefix "$folder" ci --ignore-scripts --no-audit --no-fund; done
wait "$running" || verdict failed "the stack comes up"
running=''
cat "$results/up"

# What hardly needs the processor runs aside: a package's download, outages of a minute, a browser that waits for them.
aside browser sh deploy/host/browser.sh
vitest proxy/test
join
CHROMIUM_PATH=$(sh deploy/host/browser.sh) || verdict failed "a browser"
export CHROMIUM_PATH
[ -n "$CHROMIUM_PATH" ] || npx --prefix web/e2e playwright install chromium

aside outage playwright outage --project=outage
aside kubernetes vitest deploy/kubernetes/test
vitest proxy/spool
join
spool_units
# After a failed test the apps start anew: three are enough to know.
aside matrix playwright matrix --project=matrix --max-failures=3
playwright together --project=together
join
aside static static_checks
playwright alone --project=alone --no-deps
join
# The same images with other settings: what is set reaches server and browser at run time.
other_settings && playwright other-settings browser-errors
if has k6; then
  check "loadtest: smoke" env BASE_URL="https://localhost:$HTTPS_PORT" SSL_CERT_FILE=".culvert/$COMPOSE_PROJECT_NAME/dev-ca.crt" sh loadtest/run.sh
else
  verdict skipped "loadtest: smoke (no k6 here)"
fi
# Last, because it leaves the stack with other releases.
vitest deploy/test

node deploy/test/tally.mjs "$results"
