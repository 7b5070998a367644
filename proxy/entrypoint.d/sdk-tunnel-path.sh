# shellcheck shell=sh
# Sourced by 32-sdk-tunnel-paths.sh.

# sdk_tunnel_path DSN: the path to which Sentry's SDK (11.10 and later) posts with `tunnel: true`, for a DSN that has been checked:
# "/" + FNV-1a 32 of the DSN without its secret, in base 36 (getTunnelPath in @sentry/core, utils/tunnel.js). test/sdk-tunnel.test.ts
# compares the two.
base_36_digits='0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j k l m n o p q r s t u v w x y z'
sdk_tunnel_path() {
  public=${1#*://}
  public=${1%%://*}://${public%%[:@]*}@${public#*@}
  hash=2166136261
  for byte in $(printf '%s' "$public" | od -An -v -tu1); do
    # The shell calculates in 64 bits: a 32-bit hash times this 25-bit prime fits, what exceeds 32 bits is cut off.
    hash=$((((hash ^ byte) * 16777619) & 0xFFFFFFFF))
  done
  path=''
  while [ "$hash" -gt 0 ]; do
    # shellcheck disable=SC2086 # one argument for each digit
    set -- $base_36_digits
    shift $((hash % 36))
    path=$1$path
    hash=$((hash / 36))
  done
  printf '/%s\n' "${path:-0}"
}
