#!/bin/sh
# `make check`: a quick check of each file that differs from origin/main (else from the last release, else of every
# file), for people at work. It names the files that it has no check for. `make test` runs everything.
set -u
cd "$(dirname "$0")/../.." || exit 1
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
. deploy/lib.sh
. deploy/test/suites.sh

if base=$(git merge-base HEAD origin/main 2>/dev/null); then name=origin/main
elif base=$(git describe --tags --abbrev=0 --match='v*' 2>/dev/null); then name=$base
else base=$(git hash-object -t tree /dev/null) name='an empty folder'; fi
changed=$({ git diff --name-only --no-renames "$base" && git ls-files --others --exclude-standard; } | sort -u)
[ -n "$changed" ] || { say "nothing differs from $name"; exit; }
say "==> what differs from $name"

unchecked=$changed
# changed_in PATTERN: prints the changed files that match, deleted ones too.
changed_in() { printf '%s\n' "$changed" | grep -E "$1"; }
# existing PATTERN: prints those that still exist.
existing() { changed_in "$1" | while read -r file; do [ ! -e "$file" ] || printf '%s\n' "$PWD/$file"; done; }
# touches PATTERN: whether a changed file matches. Those that do have a check.
touches() {
  unchecked=$(printf '%s\n' "$unchecked" | grep -vE "$1")
  changed_in "$1" >/dev/null
}
# needs NAME COMMAND...: whether COMMAND succeeds; else records that the check NAME is skipped.
needs() {
  needed_by=$1
  shift
  "$@" >/dev/null 2>&1 || { record skipped "$needed_by (this fails here: $*)"; false; }
}
install() { [ -d "$1/node_modules" ] || npm --prefix "$1" ci --ignore-scripts --no-audit --no-fund --silent; }

# project FOLDER PATTERN: checks types and lint of a project if a changed file matches; fails if none does.
project() {
  touches "$2" || return
  install "$1"
  check "$1: types" npm --prefix "$1" run typecheck
  check "$1: lint" npm --prefix "$1" run lint
}
# related FOLDER PATTERN: runs the project's tests that depend on files that match
# (https://vitest.dev/guide/cli.html#vitest-related).
related() {
  changed_in "$2" >/dev/null || return
  (IFS='
'
    # shellcheck disable=SC2046 # a list, in a path that may have spaces
    check "$1: unit tests" npm --prefix "$1" exec -- vitest related --run --passWithNoTests \
      --exclude "{e2e,.next,**/node_modules}/**" --root "$1" $(existing "$2"))
}
units() { project "$1" "$2" && related "$1" "$2"; }
# tests FOLDER FILE...: runs these test files of a project.
tests() {
  folder=$1
  shift
  install "$folder"
  check "$folder: $*" npm --prefix "$folder" test -- "$@"
}

# nginx_accepts SETTING=VALUE...: whether the proxy's image, built of these files, renders a configuration that Nginx
# accepts.
nginx_accepts() {
  image=$(docker build --quiet proxy) || return
  for set; do set -- "$@" --env="$set"; shift; done
  docker run --rm --network=none --env=SENTRY_DSN=http://culvert@127.0.0.1:9000/1 "$@" "$image" render
}
# kustomize: whether every overlay renders, and the base with all components at once.
kustomize() {
  all=.culvert/check
  mkdir -p "$all"
  { echo 'resources: [../../deploy/kubernetes/base]' && echo 'components:' &&
    printf -- '- ../../%s\n' deploy/kubernetes/components/*; } >"$all/kustomization.yaml"
  for folder in deploy/kubernetes/overlays/* "$all"; do kubectl kustomize "$folder" >/dev/null || return; done
}
# chart [OPTION]: whether the chart renders with its defaults; with an OPTION, everything that can be enabled is.
chart() {
  images=$(printf '%s.image.tag=v1,' proxy web spool localIngest)
  sed "${1:+s/enabled: false/enabled: true/}" deploy/chart/values.yaml |
    "$(sh deploy/chart/helm.sh)" template culvert deploy/chart --values=- --set="${images%,}" "$@"
}
# Every template that only some settings need (proxy/entrypoint.d/render.sh).
optional='SPOOL_UPSTREAM=spool:8082 ACME=on WEBSOCKET_PATH=/ws'

code='\.(tsx?|m?js|json|css)$'
units web "^web/((src|telemetry)/.*|[^/]*)$code"
project web/e2e "^web/e2e/.*$code"
units loadtest "^loadtest/((lib|journeys|suite|test)/.*|[^/]*)$code"
units loadtest/bench "^loadtest/bench/(src/.*|[^/]*)$code"
if project proxy/spool "^proxy/spool/.*$code"; then check "proxy/spool: unit tests" npm --prefix proxy/spool run test:units; fi
project proxy/test "^proxy/(njs|test)/.*$code"
if touches '^proxy/([^/]*$|entrypoint\.d|error-pages|njs|snippets|templates)' && needs "proxy: nginx -t" docker version; then
  check "proxy: nginx -t" nginx_accepts
  # shellcheck disable=SC2086 # a list
  check "proxy: nginx -t with all templates" nginx_accepts $optional
fi
project deploy/test "^deploy/(checks|test)/.*$code"
# Not the tests that need containers.
related deploy/test '^deploy/(checks/.*|test/doctor/(checks|contract|network)\.test)\.ts$'
if touches '\.md$|^Makefile$'; then tests deploy/test documents.test.ts; fi
if touches '^(docker-compose|deploy/images)\.yml$' && needs docker-compose.yml docker compose version; then
  check docker-compose.yml docker compose config --quiet
fi
project deploy/kubernetes/test "^deploy/kubernetes/test/.*$code"
if touches '^deploy/(kubernetes/(base|components|overlays|release|verify)|settings|checks)/' && needs "kubectl kustomize" has kubectl; then
  check "kubectl kustomize: overlays, components" kustomize
fi
if touches '^deploy/(chart|settings|checks|kubernetes/(components/monitoring|verify))/' && needs "helm template" sh deploy/chart/helm.sh; then
  check "helm template: defaults" chart
  check "helm template: everything enabled" chart --set=gateway.className=x,proxy.service.type=ClusterIP \
    --set=settings.TRUSTED_PROXIES=10.0.0.0/8 --set='httpRoute.parentRefs[0].name=x'
fi
touches '^\.env\.example$'
check "lists of settings are current" node deploy/settings/generate.mjs --check
if touches '\.sh$' && needs "shell scripts" has shellcheck; then
  (IFS='
'
    # shellcheck disable=SC2046 # a list
    check "shell scripts" shellcheck -x --source-path=SCRIPTDIR $(existing '\.sh$'))
fi

# shellcheck disable=SC2086 # on one line
[ -z "$unchecked" ] || say "    only make test checks" $unchecked
! grep -q '^failed' "$results/checks"
