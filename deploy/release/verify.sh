#!/bin/sh
# Checks a downloaded release before it is used: checksums, the signature of the checksums, and the signatures, SBOMs
# and provenance of the images. A line for each; what cannot be checked here says so and is not counted as checked.
# Usage: verify.sh FOLDER. COSIGN_PUB is the publisher's key, or IDENTITY the repository whose workflow signed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
. "$here/registry.sh"

folder=${1:?usage: verify.sh FOLDER}
cd "$folder" || exit 1
[ -s SHA256SUMS ] || die "$folder: there is no SHA256SUMS: download it with the rest of the release"
checked=0 wrong=0 unchecked=0
ok() { checked=$((checked + 1)); echo "✓ $1"; }
bad() { wrong=$((wrong + 1)); echo "✗ $1"; }

if output=$(sha256sum --check --quiet --ignore-missing SHA256SUMS 2>&1); then
  ok "checksums of the files that are here"
else
  bad "checksums: $(printf '%s' "$output" | head -n 1)"
fi

if [ -n "${COSIGN_PUB:-}" ]; then
  by="--key=$COSIGN_PUB --insecure-ignore-tlog=true"
elif [ -n "${IDENTITY:-}" ]; then
  identity=$(printf '%s' "${IDENTITY%/}/" | sed 's/[.]/\\&/g')
  by="--certificate-identity-regexp=^$identity --certificate-oidc-issuer=https://token.actions.githubusercontent.com"
else
  die "set COSIGN_PUB to the publisher's key, or IDENTITY to https://github.com/<owner>/<repository>: a checksum" \
    "alone shows only that files arrived whole"
fi
has cosign || die "cosign: not found: install it; without it, signatures are not checked"
# shellcheck disable=SC2086 # options
if cosign verify-blob $by --bundle SHA256SUMS.bundle SHA256SUMS >/dev/null 2>&1; then
  ok "signature of the checksums"
else
  bad "SHA256SUMS: no signature by this key or identity"
fi

registry=${REGISTRY:-ghcr.io/culvert}
! has_no_tls "$registry" || by="$by --allow-http-registry"
while read -r image; do
  reference=$registry/culvert-${image%%:*}@${image#*@}
  # shellcheck disable=SC2086 # options
  if reason=$({ cosign verify $by "$reference" && cosign verify-attestation $by --type cyclonedx "$reference" &&
    cosign verify-attestation $by --type slsaprovenance1 "$reference"; } 2>&1 >/dev/null); then
    ok "signature, SBOM and provenance of $reference"
  else
    case $reason in
      *'dial tcp'* | *'no such host'* | *'connection refused'*)
        unchecked=$((unchecked + 1))
        echo "? $reference: not checked: $registry does not answer"
        ;;
      *) bad "$reference: $(printf '%s' "$reason" | grep -i error | head -n 1)" ;;
    esac
  fi
done <digests
echo "$checked checked, $wrong wrong, $unchecked not checked"
[ "$wrong" -eq 0 ]
