# shellcheck shell=sh
# The copy of the stack that tests use: its own project, ports and reports, beside whatever runs already. Sourced.

export COMPOSE_FILE=docker-compose.yml:deploy/test/support/recorder/compose.yml
# An operator's .env must not change what is tested.
export COMPOSE_ENV_FILES=/dev/null
# Nor must a setting that happens to be exported in this shell: the compose file knows their names.
# shellcheck disable=SC2016 # characters of the compose file, not this shell's
for setting in $(grep -ohE '\$\{[A-Z][A-Z0-9_]*|^ +[A-Z][A-Z0-9_]*:' docker-compose.yml | tr -d ' ${:' | sort -u); do
  # The CA that downloads on this machine need is the machine's, not the stack's.
  case $setting in BUILD_CA_FILE | NODE_EXTRA_CA_CERTS) ;; *) unset "$setting" ;; esac
done

# TEST_STACK=N is one more copy beside the first, with a project and ports of its own.
export COMPOSE_PROJECT_NAME="culvert-test${TEST_STACK:-}"
export HTTPS_PORT=$((18443 + ${TEST_STACK:-0} * 10)) HTTP_PORT=$((18080 + ${TEST_STACK:-0} * 10))
export RECORDER_PORT=$((19001 + ${TEST_STACK:-0} * 10)) UPSTREAM_PORT=$((19002 + ${TEST_STACK:-0} * 10))
export SENTRY_DSN=http://culvert@recorder:9000/1
export SENTRY_TRACES_SAMPLE_RATE=1 SENTRY_RELEASE=culvert@test
export CONSOLE=on REGION=test-1
export UPSTREAM_URL=http://upstream:9000/upstream
