# shellcheck shell=sh
# Checks and suites of tests, and where their results are recorded. Sourced after lib.sh, with `results` set to a
# folder.

# record passed|failed|skipped NAME: records and prints the result of a check.
record() {
  # shellcheck disable=SC2154 # the caller's
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
