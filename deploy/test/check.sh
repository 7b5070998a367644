#!/bin/sh
# `make check`: types, lint and unit tests of what differs from main, for people at work. `make test` runs everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
. deploy/host/lib.sh
. deploy/test/suites.sh

base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
changed=$({ git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard; } | sort -u)
[ -n "$changed" ] || { say "nothing differs from main"; exit; }
# changed_in PATTERN: prints the changed files that match.
changed_in() { printf '%s\n' "$changed" | grep -E "$1"; }

# project FOLDER PATTERN: checks types and lint of a project if a changed file matches; fails if none does.
project() {
  changed_in "$2" >/dev/null || return
  [ -d "$1/node_modules" ] || npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --silent
  check "$1: types" npm --prefix "$1" run typecheck
  check "$1: lint" npm --prefix "$1" run lint
}
# units FOLDER PATTERN: also runs the unit tests that depend on the changed files (https://vitest.dev/guide/cli.html#vitest-related).
units() {
  project "$1" "$2" || return
  # shellcheck disable=SC2046 # a list
  check "$1: unit tests" npm --prefix "$1" exec -- vitest related --run --passWithNoTests --exclude "{e2e,.next,**/node_modules}/**" --root "$1" \
    $(changed_in "$2" | sed "s|^|$PWD/|")
}

units web '^web/(src|telemetry|[^/]*$)'
project web/e2e '^web/e2e/'
units loadtest '^loadtest/(lib|journeys|suite|test|[^/]*$)'
units loadtest/bench '^loadtest/bench/src/'
if project proxy/spool '^proxy/spool/'; then check "proxy/spool: unit tests" npm --prefix proxy/spool run test:units; fi
project proxy/test '^proxy/(njs|test)/'
project deploy/test '^deploy/(test|doctor)/|\.md$' && changed_in '\.md$' >/dev/null &&
  check "documents" npm --prefix deploy/test test -- documents.test.ts
project deploy/kubernetes/test '^deploy/kubernetes/test/'
check "lists of settings are current" node deploy/settings/generate.mjs --check
if has shellcheck && changed_in '\.sh$' >/dev/null; then
  # shellcheck disable=SC2046 # a list
  check "shell scripts" shellcheck -x --source-path=SCRIPTDIR $(changed_in '\.sh$')
fi
! grep -q '^failed' "$results/checks"
