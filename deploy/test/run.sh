#!/bin/sh
# All checks of `make test`. Its last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. deploy/lib.sh
. deploy/bare-machine/apt.sh
. deploy/test/stack.sh
. deploy/test/suites.sh
export CULVERT_TEST_RUN="$$"

# Suites whose containers are their own.
own_containers() {
  suite proxy/test run_vitest proxy/test
  suite deploy/kubernetes run_vitest deploy/kubernetes/test
}

# Suites with stacks of their own: other apps, the commands in README.md, and other releases of web.
own_stacks() {
  # After a failed test the apps are started again: three failures are enough.
  suite "e2e matrix" run_playwright --project=matrix --max-failures=3
  suite "e2e readme" run_playwright --project=readme
  (releases)
}

# Suites that change the tests' stack, or what it answers.
stack() {
  suite "e2e together" run_playwright --project=together
  suite "e2e alone" run_playwright --project=alone --no-deps
  suite deploy/test run_vitest deploy/test --project containers
  # The same images with other settings: settings reach server and browser at run time.
  export TUNNEL_PATH=/of/your-own SENTRY_RELEASE=culvert@other SENTRY_DSN=http://culvert@recorder:9000/below/a/prefix/77
  check "the stack comes up with other settings" docker compose up --no-build --wait --quiet-pull
  suite "e2e other settings" run_playwright --project=together browser-errors
  if has k6; then
    check "loadtest: smoke" env BASE_URL="https://localhost:$HTTPS_PORT" \
      SSL_CERT_FILE=".culvert/$COMPOSE_PROJECT_NAME/dev-ca.crt" sh loadtest/run.sh
  else
    record skipped "loadtest: smoke (no k6 here)"
  fi
}

# other_stack 20|40|60|80|100|120: selects another stack: 20 for other releases of web, 40 for the commands in
# README.md, 60 for those in docs/your-app.md, 80 and 100 for other apps, 120 for docs/tunnel-alone.md.
other_stack() {
  TEST_STACK=$((${TEST_STACK:-0} + $1))
  . deploy/test/stack.sh
}
releases() {
  other_stack 20
  # Its default depends on WEB_IMAGE: the first release of another image would replace the proxy, too.
  export CONTENT_SECURITY_POLICY=enforce
  check "the stack of releases comes up" sh deploy/host/up.sh
  suite upgrade run_vitest deploy/test --project upgrade
  suite "e2e release" run_playwright --project=release
}

# Chromium, whose path it writes to a file, and WebKit, which is optional: one browser test runs in Safari's engine.
browsers() {
  sh deploy/bare-machine/browser.sh >"$results/chromium" || record failed "a browser"
  has WebKitWebDriver || ! can_install || (debian_install webkit2gtk-driver xvfb xauth) >/dev/null 2>&1 || true
}

# Checks and unit tests that need no engine. Beside them: the load test's suite, which mostly waits.
static() {
  types_and_lint
  check "web/telemetry: lowest and newest versions of its peers" sh web/telemetry/test/peers.sh
  units
  suite proxy/spool/src run_spool_units
}

# kill_tree PID: kills a process, then its descendants: a job whose suite ended first would begin the next one.
kill_tree() {
  children=$(pgrep -P "$1")
  kill "$1" 2>/dev/null
  for child in $children; do (kill_tree "$child"); done
}

take_down() {
  docker compose --profile '*' down --volumes
  # WEB_EGRESS and WEB_IMAGE select one of two networks; compose removes the one of its current settings only.
  docker network ls -q --filter "label=com.docker.compose.project=$COMPOSE_PROJECT_NAME" | xargs -r docker network rm
}

# clean_up: ends the jobs, removes all stacks and what interrupted tests left, and stops the engine if this run started
# it.
clean_up() {
  # shellcheck disable=SC2154 # of suites.sh
  for job in $running; do kill_tree "$job"; done
  join
  {
    for number in 20 40 60 80 100 120; do (other_stack "$number" && take_down); done
    take_down
    for left in "label=culvert.test=$CULVERT_TEST_RUN" "name=^culvert-[a-z]+-$CULVERT_TEST_RUN([-_]|\$)"; do
      docker ps -aq --filter "$left" | xargs -r docker rm -f -v
      docker network ls -q --filter "$left" | xargs -r docker network rm
      docker volume ls -q --filter "$left" | xargs -r docker volume rm
    done
  } >/dev/null 2>&1
  [ -z "$started_engine" ] || kill "$(cat /var/run/docker.pid)"
}

started_engine=$(docker version >/dev/null 2>&1 || echo yes)
trap clean_up EXIT
trap 'exit 130' INT TERM

# On a new machine: the engine, the base images and the build. What needs no engine runs meanwhile.
background check "the stack comes up" sh deploy/host/up.sh
stack_up=$! installs=
for folder in $projects; do
  background check "$folder: install" install "$folder"
  installs="$installs $!"
done
# shellcheck disable=SC2086 # several
wait $installs
background static
# Builds go first.
renice -n 10 -p $! >/dev/null
background suite loadtest run_vitest loadtest
background browsers
wait "$stack_up" $!
if ! docker version >/dev/null 2>&1; then
  join
  record failed "no Docker engine answers: the tests that need one did not run"
  node deploy/test/totals.mjs "$results"
  exit 1
fi

# With cgroup v1, all containers together weigh as much as one browser: on a slow machine they starve.
shares=/sys/fs/cgroup/cpu/docker/cpu.shares
{ [ -z "$started_engine" ] || [ ! -w "$shares" ]; } || echo 2048 >"$shares"

CHROMIUM_PATH=$(cat "$results/chromium")
export CHROMIUM_PATH
[ -n "$CHROMIUM_PATH" ] || npx --prefix web/e2e playwright install chromium

# Few jobs at a time: with more, two cores made tests wait for minutes.
background suite proxy/spool run_vitest proxy/spool
background own_containers
background suite "e2e your-app" run_playwright --project=your-app
background stack
background shell_scripts
own_stacks
join

node deploy/test/totals.mjs "$results"
