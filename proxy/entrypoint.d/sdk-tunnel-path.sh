# shellcheck shell=sh

# sdk_tunnel_path DSN: prints the path to which Sentry's SDK (11.10 and later) posts with `tunnel: true`: "/" + FNV-1a
# 32 of the DSN without its secret, in base 36 (getTunnelPath in @sentry/core); test/tunnel.test.ts compares them.
sdk_tunnel_path() {
  hash=2166136261 digits=''
  for byte in $(printf '%s' "$1" | od -An -v -tu1); do
    hash=$((((hash ^ byte) * 16777619) & 0xFFFFFFFF))
  done
  while [ "$hash" -gt 0 ]; do
    # The rest of the alphabet from this digit on.
    rest=0123456789abcdefghijklmnopqrstuvwxyz left=$((hash % 36))
    while [ "$left" -gt 0 ]; do rest=${rest#?} left=$((left - 1)); done
    digits=${rest%"${rest#?}"}$digits hash=$((hash / 36))
  done
  echo "/${digits:-0}"
}
