# shellcheck shell=sh
# IPv6 in the proxy's network: without it, all IPv6 clients have the gateway's address. Sourced after env-file.sh.

# enable_ipv6: before the network is created, writes NETWORK_IPV6=true into .env if the engine supports it. In .env,
# because every later command of compose must agree: with another value, compose creates the network again.
enable_ipv6() {
  [ -z "$(setting NETWORK_IPV6)" ] && [ -z "${COMPOSE_ENV_FILES:-}" ] || return 0
  ! docker network inspect "${COMPOSE_PROJECT_NAME}_outside" >/dev/null 2>&1 || return 0
  trial=$COMPOSE_PROJECT_NAME-ipv6-trial
  docker network create --ipv6 "$trial" >/dev/null 2>&1 || return 0
  docker network rm "$trial" >/dev/null
  say "    the engine supports IPv6:"
  write_setting NETWORK_IPV6 true
}
