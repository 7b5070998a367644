# shellcheck shell=sh
# What needs no container of the stack: types, lint, lists of settings, unit tests. Sourced after suites.sh.

projects='web web/e2e loadtest loadtest/bench proxy/spool proxy/test deploy/test deploy/kubernetes/test'

install() {
  # npm writes this file last.
  [ -n "$(find "$1/node_modules/.package-lock.json" -newer "$1/package-lock.json" 2>/dev/null)" ] ||
    npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --prefer-offline
}

types_and_lint() {
  check "lists of settings are current" node deploy/settings/generate.mjs --check
  for folder in $projects; do
    check "$folder: types" npm --prefix "$folder" run typecheck
    check "$folder: lint" npm --prefix "$folder" run lint
  done
}

units() {
  suite web run_vitest web
  suite deploy/test/units run_vitest deploy/test --project units
}

shellcheck_all() { git ls-files '*.sh' | xargs shellcheck -x --source-path=SCRIPTDIR; }

shell_scripts() {
  has shellcheck || { can_install && debian_install shellcheck; }
  has shellcheck || { record skipped "shell scripts (no shellcheck here)"; return; }
  check "shell scripts" shellcheck_all
}
