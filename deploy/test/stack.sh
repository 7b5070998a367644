# shellcheck shell=sh
# The tests' copy of the stack: its own project, ports and recorded events, beside other stacks. Sourced after
# deploy/lib.sh, in the repository's root.

export COMPOSE_FILE=docker-compose.yml:deploy/test/support/recorder/compose.yml
# An operator's .env must not affect tests.
export COMPOSE_ENV_FILES=/dev/null
# Nor must settings that are exported in this shell.
for setting in $(compose_settings); do
  # The CA for downloads belongs to this machine, not to the stack.
  case $setting in BUILD_CA_FILE) ;; *) unset "$setting" ;; esac
done

unset COMPOSE_PROFILES
# Only its own tests need it.
export SKEW_KEEP=0

# TEST_STACK=N is another copy, with its own project and ports.
export COMPOSE_PROJECT_NAME="culvert-test${TEST_STACK:-}"
export HTTPS_PORT=$((18443 + ${TEST_STACK:-0} * 10)) HTTP_PORT=$((18080 + ${TEST_STACK:-0} * 10))
export RECORDER_PORT=$((19001 + ${TEST_STACK:-0} * 10)) UPSTREAM_PORT=$((19002 + ${TEST_STACK:-0} * 10))
export SENTRY_DSN=http://culvert@recorder:9000/1
export SENTRY_TRACES_SAMPLE_RATE=1 SENTRY_RELEASE=culvert@test
export CONSOLE=on REGION=test-1
export UPSTREAM_URL=http://upstream:9000/upstream
