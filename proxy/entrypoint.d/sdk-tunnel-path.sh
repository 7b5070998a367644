# shellcheck shell=sh
# For ingest.sh.

# sdk_tunnel_path DSN: prints the path to which Sentry's SDK (11.10 and later) posts with `tunnel: true`: "/" + FNV-1a
# 32 of the DSN without its secret, in base 36 (getTunnelPath in @sentry/core); test/tunnel.test.ts compares them.
sdk_tunnel_path() {
  hash=2166136261 digits=''
  for byte in $(printf '%s' "$1" | od -An -v -tu1); do
    hash=$((((hash ^ byte) * 16777619) & 0xFFFFFFFF))
  done
  while [ "$hash" -gt 0 ]; do
    digits=$(echo 0123456789abcdefghijklmnopqrstuvwxyz | cut -c $((hash % 36 + 1)))$digits hash=$((hash / 36))
  done
  echo "/${digits:-0}"
}
