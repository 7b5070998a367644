# shellcheck shell=sh
# Rejects, before anything is changed, a clone that Docker cannot use and invalid settings.

. deploy/settings/check.sh

OWN_KEY=.culvert/server-actions.key # for SERVER_ACTIONS_KEY_FILE

preflight() {
  check_clone
  # https://nextjs.org/docs/app/guides/self-hosting#server-functions-encryption-key
  [ "$(setting SERVER_ACTIONS_KEY_FILE "$OWN_KEY")" != "$OWN_KEY" ] || [ -s "$OWN_KEY" ] ||
    (umask 077 && head -c 32 /dev/urandom | base64 >"$OWN_KEY")
  check_settings
  seconds_of SKEW_KEEP "$(setting SKEW_KEEP)" >/dev/null
  seconds_of START_TIMEOUT "$(setting START_TIMEOUT)" >/dev/null
}

# check_clone: dies if Docker cannot use this clone.
check_clone() {
  case $PWD in *:*) die "$PWD: Docker cannot mount a folder with a colon in its path: move the clone" ;; esac
  [ -x deploy/host/summary.sh ] || die "$PWD: its scripts cannot be executed: find deploy -name '*.sh' -exec chmod +x" \
    "{} +, or move the clone to a file system without noexec"
  { mkdir -p .culvert && [ -w .culvert ]; } 2>/dev/null ||
    die "$PWD: $(id -un) cannot write here: chown it, or run make up as its owner"
  case $(setting COMPOSE_PROFILES) in *monitoring*) check_readable deploy/monitoring deploy/kubernetes ;; esac
}

# enable_ipv6: before the network is created, writes NETWORK_IPV6=true into .env if the engine supports it. Without it,
# all IPv6 clients have the gateway's address.
enable_ipv6() {
  [ -z "$(setting NETWORK_IPV6)" ] && [ -z "${COMPOSE_ENV_FILES:-}" ] || return 0
  ! docker network inspect "${COMPOSE_PROJECT_NAME}_outside" >/dev/null 2>&1 || return 0
  trial=$COMPOSE_PROJECT_NAME-ipv6-trial
  docker network rm "$trial" >/dev/null 2>&1 || true
  { docker network create --ipv6 "$trial" && docker network rm "$trial"; } >/dev/null 2>&1 || return 0
  write_setting NETWORK_IPV6 true
}
