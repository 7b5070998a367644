#!/bin/sh
# `make check`: everything that needs no container of the stack, for people at work. `make test` runs the rest, too.
set -u
cd "$(dirname "$0")/../.." || exit 1
. deploy/lib.sh
. deploy/bare-machine/apt.sh
. deploy/test/suites.sh
trap 'rm -rf "$results"' EXIT

# nginx_accepts SETTING=VALUE...: whether the proxy's image, built of these files, renders a configuration that Nginx
# accepts.
nginx_accepts() {
  image=$(docker build --quiet proxy) || return
  for set; do set -- "$@" --env="$set"; shift; done
  docker run --rm --network=none --env=SENTRY_DSN=http://culvert@127.0.0.1:9000/1 "$@" "$image" render
}
with_engine() {
  docker version >/dev/null 2>&1 || { record skipped "nginx -t, units of proxy/spool (no engine here)"; return; }
  check "nginx -t: default settings" nginx_accepts
  # Every template that only some settings need (proxy/entrypoint.d/render.sh).
  check "nginx -t: optional templates" nginx_accepts SPOOL_UPSTREAM=spool:8082 ACME=on WEBSOCKET_PATH=/ws
  check "nginx -t: WEB=off" nginx_accepts SPOOL_UPSTREAM=spool:8082 WEB=off
  suite proxy/spool/src run_spool_units
}

for folder in $projects; do check "$folder: install" install "$folder"; done
background units
background types_and_lint
shell_scripts
# Each planted fault takes a run: a minute in total.
suite loadtest run_vitest loadtest --exclude test/faults.test.ts --exclude test/whole.test.ts
suite deploy/kubernetes run_vitest deploy/kubernetes/test alerts chart compose network rules verify
with_engine
join
node deploy/test/totals.mjs "$results"
