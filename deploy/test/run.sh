#!/bin/sh
# All checks of `make test`. Its last line: N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
results=$(mktemp -d)
. deploy/lib.sh
. deploy/bare-machine/apt.sh
. deploy/test/stack.sh
. deploy/test/suites.sh
. deploy/test/jobs.sh
. deploy/test/static.sh
export CI=true FORCE_COLOR=0 NO_COLOR=1 CULVERT_TEST_RUN="$$"

# Suites whose containers are their own.
own_containers() {
  suite proxy/test run_vitest proxy/test
  suite deploy/kubernetes run_vitest deploy/kubernetes/test
}

# An app as docs/your-app.md adopts it, and others. A job of its own, because it takes as long as half of another one.
own_apps() { suite "e2e your-app" run_playwright --project=your-app; }

# Suites with stacks of their own: other apps, the commands in README.md, other releases of web, and the spool's.
own_stacks() {
  # After a failed test the apps are started again: three failures are enough.
  suite "e2e matrix" run_playwright --project=matrix --max-failures=3
  suite "e2e readme" run_playwright --project=readme
  (releases)
  suite proxy/spool run_vitest proxy/spool
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

# other_stack 20|40|60|80|100: selects another stack: 20 for other releases of web, 40 for the commands in README.md, 60
# for those in docs/your-app.md, 80 and 100 for other apps.
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

# Checks and unit tests that need no engine.
static() {
  types_and_lint
  check "web/telemetry: lowest and newest versions of its peers" sh web/telemetry/test/peers.sh
  units
  suite loadtest run_vitest loadtest
  suite proxy/spool/src run_spool_units
}

docker version >/dev/null 2>&1 || started_engine=yes
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
background browsers
wait "$stack_up" $!
if ! docker version >/dev/null 2>&1; then
  join
  record failed "no Docker engine answers: the tests that need one did not run"
  node deploy/test/totals.mjs "$results"
  exit 1
fi

CHROMIUM_PATH=$(cat "$results/chromium")
export CHROMIUM_PATH
[ -n "$CHROMIUM_PATH" ] || npx --prefix web/e2e playwright install chromium

# Few jobs beside one another: with more, two cores made tests wait for minutes.
background own_containers
background own_apps
background stack
shell_scripts
own_stacks
join

node deploy/test/totals.mjs "$results"
