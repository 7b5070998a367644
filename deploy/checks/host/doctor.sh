#!/bin/sh
# Prints a line for each check: ✓ fine, ✗ wrong, ! will hurt or only you can judge it, - skipped.
# Status 1: something is wrong. Usage: doctor.sh [--json | --brief]: brief is what is wrong with ingest and certificate.
# PAGE is the page to ask for. BASE_URL=https://... checks any deployment from outside, with its SENTRY_DSN and
# TUNNEL_PATH, which may be in .env.
set -eu
cd "$(dirname "$0")/../../.."
. deploy/lib.sh
. deploy/checks/host/facts.sh

if [ -n "${BASE_URL:-}" ]; then
  has docker || die "docker: not found: install it"
  SENTRY_DSN=$(setting SENTRY_DSN) TUNNEL_PATH=$(setting TUNNEL_PATH)
  export SENTRY_DSN TUNNEL_PATH
  # This machine's own network: the address may be localhost.
  run_in host ../outside/doctor.ts "$@" </dev/null
else
  need_stack
  facts | run_in stack doctor.ts "$@"
fi
