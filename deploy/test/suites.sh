# shellcheck shell=sh
# Checks, suites of tests and jobs in the background, and what of them needs no container of the stack. Sourced after
# lib.sh. `results` is a folder for totals.mjs.
results=$(mktemp -d) running='' started_jobs=0
projects='web web/e2e loadtest loadtest/bench proxy/spool proxy/test deploy/test deploy/kubernetes/test'
export CI=true FORCE_COLOR=0 NO_COLOR=1

# record passed|failed|skipped NAME: records and prints the result of a check.
record() {
  echo "$1 $2" >>"$results/checks"
  say "    $1: $2"
}

# check NAME COMMAND...: records passed or failed by the command's exit status; prints its output only if it fails.
check() {
  name=$1 output=$(mktemp -p "$results")
  shift
  if "$@" >"$output" 2>&1; then record passed "$name"; else
    cat "$output"
    record failed "$name"
  fi
}

# suite NAME COMMAND...: runs tests; the command writes their results to the file $report. Every test counts, and a run
# that fails without a failed test (a crash, a file that does not load) counts as one failure. Prints the output only if
# the run fails.
suite() {
  suite=$1 start=$(date +%s)
  report=$results/$(echo "$suite" | tr '/ ' --).json
  shift
  say "==> $suite"
  if "$@" >"$report.output" 2>&1 && [ -s "$report" ]; then :; else
    echo "$suite" >"$report.failed-run"
    cat "$report.output"
  fi
  say "    $suite: $(($(date +%s) - start)) s"
}

# run_vitest FOLDER ARGUMENT..., run_playwright ARGUMENT...: commands for suite. A failed test gets two more attempts;
# totals.mjs reports them.
run_vitest() {
  folder=$1
  shift
  npm --prefix "$folder" test -- --retry=2 --reporter=dot --silent=passed-only --reporter=json \
    --outputFile.json="$report" "$@"
}
run_spool_units() {
  REPORTS=$results npm --prefix proxy/spool run test:units -- --reporter=dot --silent=passed-only --reporter=json \
    --outputFile.json="$report"
}
run_playwright() {
  PLAYWRIGHT_JSON_OUTPUT_NAME=$report npm --prefix web/e2e test -- --retries=2 --reporter=dot,json \
    --output="test-results/$(basename "$report" .json)" "$@"
}

# background COMMAND...: runs the command in the background. A job that does not reach its end counts as one failure.
background() {
  started_jobs=$((started_jobs + 1))
  echo "$*" >"$results/$started_jobs.unfinished"
  { "$@"; rm "$results/$started_jobs.unfinished"; } &
  running="$running $!"
}
join() {
  # shellcheck disable=SC2086 # several
  wait $running
  running=''
}

install() {
  # npm writes this file last.
  [ -n "$(find "$1/node_modules/.package-lock.json" -newer "$1/package-lock.json" 2>/dev/null)" ] ||
    npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --prefer-offline
}

types_and_lint() {
  check "lists of settings are current" node deploy/settings/generate.mjs --check
  check "no literal is spread into another" without_spread_literals
  for folder in $projects; do
    check "$folder: types" npm --prefix "$folder" run typecheck
    check "$folder: lint" npm --prefix "$folder" run lint
  done
}

units() {
  suite web run_vitest web
  suite deploy/test/units run_vitest deploy/test --project units
}

shell_scripts() {
  has shellcheck || { can_install && debian_install shellcheck; }
  has shellcheck || { record skipped "shell scripts (no shellcheck here)"; return; }
  check "shell scripts" sh -c "git ls-files '*.sh' | xargs shellcheck -x --source-path=SCRIPTDIR"
}

# without_spread_literals: fails, and prints them, if literals are spread into another one for its layout only.
# shellcheck disable=SC2317 # check calls it
without_spread_literals() {
  ! git ls-files '*.ts' '*.tsx' |
    xargs grep -HPzo '\.\.\.(\{|(\[(?:"(?:[^"\\]|\\.)*+"|[^]["]|(?2))*+\])(?![.[]))[^\n]*' | tr '\0' '\n' | grep .
}
