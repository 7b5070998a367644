# shellcheck shell=sh
# Sourced after lib.sh by the steps of a release that sign, or talk to a registry.

# has_no_tls REGISTRY: whether it is one of this machine, which is asked over plain HTTP.
has_no_tls() { case $1 in localhost:* | 127.0.0.1:*) ;; *) return 1 ;; esac; }

# signer: sets `key` to cosign's options: for COSIGN_KEY, else for the workflow's identity; empty if there is neither.
signer() {
  key=''
  if [ -n "${COSIGN_KEY:-}" ]; then
    # With a key of one's own, nothing is written to Sigstore's public log.
    key="--key=$COSIGN_KEY --tlog-upload=false"
  elif [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
    key=--yes
  else
    return 0
  fi
  has cosign || die "cosign: not found: install it (https://docs.sigstore.dev/cosign/)"
  # Version 3 would otherwise take the log's address from Sigstore.
  if [ -n "${COSIGN_KEY:-}" ] && cosign sign --help 2>&1 | grep -q use-signing-config; then
    key="$key --use-signing-config=false"
  fi
}
