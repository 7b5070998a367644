# shellcheck shell=sh
# Sourced by 32-sdk-tunnel-paths.sh.

# sdk_tunnel_path DSN: the path to which Sentry's SDK (11.10 and later) posts with `tunnel: true`, for a DSN that has been checked:
# "/" + FNV-1a 32 of the DSN without its secret, in base 36 (getTunnelPath in @sentry/core, utils/tunnel.js). test/sdk-tunnel.test.ts
# compares the two.
sdk_tunnel_path() {
  rest=$(printf '%s\n' "$1" | sed -E 's#^(https?://[^:@/]+):[^@]*@#\1@#')
  hash=2166136261
  while [ -n "$rest" ]; do
    tail=${rest#?}
    code=$(printf '%d' "'${rest%"$tail"}")
    # The shell calculates in 64 bits: a 32-bit hash times this 25-bit prime fits, what exceeds 32 bits is cut off.
    hash=$((((hash ^ code) * 16777619) & 0xFFFFFFFF))
    rest=$tail
  done
  digits=''
  while [ "$hash" -gt 0 ]; do
    digit=$((hash % 36))
    digits=$(echo 0123456789abcdefghijklmnopqrstuvwxyz | cut -c $((digit + 1)))$digits
    hash=$((hash / 36))
  done
  printf '/%s\n' "${digits:-0}"
}
