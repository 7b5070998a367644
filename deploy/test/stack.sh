# shellcheck shell=sh
# The copy of the stack that tests use: its own project, ports and reports, beside whatever runs already. Sourced.

export COMPOSE_PROJECT_NAME=culvert-test
export COMPOSE_FILE=docker-compose.yml:proxy/test/recorder/compose.yml
# An operator's .env must not change what is tested.
export COMPOSE_ENV_FILES=/dev/null
unset SENTRY_ENVIRONMENT TRACE_PROPAGATION_TARGETS SERVER_NAME TUNNEL_PATH TLS_CERT_FILE TLS_KEY_FILE INGEST_CA_FILE WEB_IMAGE WEB_EGRESS CACHE_URL CACHE_PASSWORD

export HTTPS_PORT=18443 HTTP_PORT=18080 RECORDER_PORT=19001 UPSTREAM_PORT=19002
export SENTRY_DSN=http://culvert@recorder:9000/1
export SENTRY_TRACES_SAMPLE_RATE=1 SENTRY_RELEASE=culvert@test
export CONSOLE=on REGION=test-1
export UPSTREAM_URL=http://upstream:9000/upstream
