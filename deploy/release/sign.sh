#!/bin/sh
# Writes the provenance and SHA256SUMS; with COSIGN_KEY or in a workflow with an OIDC token, signs SHA256SUMS and the pushed images, and attests
# their SBOMs and their provenance. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"
. "$here/registry.sh"

# base_images: prints each with its digest in the registry, as SLSA's resolvedDependencies. This machine's own have none.
base_images() {
  manifest=$(mktemp)
  deploy/bare-machine/base-images.sh | while read -r image; do
    docker buildx imagetools inspect --raw "${BASE_REGISTRY:+$BASE_REGISTRY/}$image" >"$manifest" 2>/dev/null || continue
    printf ',\n      { "uri": "pkg:docker/%s", "digest": { "sha256": "%s" } }' "$(echo "$image" | tr : @)" "$(sha256sum <"$manifest" | cut -d ' ' -f 1)"
  done
  rm "$manifest"
}

builder=Makefile
[ -z "${GITHUB_ACTIONS:-}" ] || builder=.github/workflows/release.yml
# https://slsa.dev/spec/v1.0/provenance
cat >"$OUT/provenance.json" <<JSON
{ "buildDefinition": {
    "buildType": "$SOURCE_URL/blob/v$VERSION/deploy/release/README.md",
    "externalParameters": { "version": "$VERSION", "platforms": "$PLATFORMS" },
    "resolvedDependencies": [{ "uri": "git+$SOURCE_URL@refs/tags/v$VERSION", "digest": { "gitCommit": "$(git rev-parse HEAD)" } }$(base_images)] },
  "runDetails": { "builder": { "id": "$SOURCE_URL/blob/v$VERSION/$builder" } } }
JSON

(cd "$OUT" && find . -type f ! -name 'SHA256SUMS*' | sed 's|^\./||' | sort | xargs sha256sum) >"$OUT/SHA256SUMS"

# With a key of one's own, nothing is written to Sigstore's public log. Without one, cosign asks the workflow for its identity.
if [ -n "${COSIGN_KEY:-}" ]; then
  key="--key=$COSIGN_KEY --tlog-upload=false"
elif [ -n "${ACTIONS_ID_TOKEN_REQUEST_URL:-}" ]; then
  key=--yes
else
  say "    not signed: set COSIGN_KEY to a key of 'cosign generate-key-pair'"
  exit 0
fi
has cosign || die "cosign: not found: install it (https://docs.sigstore.dev/cosign/)"
# Version 3 would otherwise take the log's address from Sigstore.
if [ -n "${COSIGN_KEY:-}" ] && cosign sign --help 2>&1 | grep -q use-signing-config; then key="$key --use-signing-config=false"; fi
# shellcheck disable=SC2086 # options
cosign sign-blob $key --bundle "$OUT/SHA256SUMS.bundle" "$OUT/SHA256SUMS" >/dev/null
[ "${PUSH:-no}" = yes ] || exit 0
! has_no_tls "$REGISTRY" || key="$key --allow-http-registry"
# sign NAME REFERENCE
sign() {
  # shellcheck disable=SC2086 # options
  cosign sign $key --recursive "$2" && for sbom in "$OUT/sbom/culvert-$1"-*.cdx.json; do
    cosign attest $key --type cyclonedx --predicate "$sbom" "$2" || return
  done && cosign attest $key --type slsaprovenance1 --predicate "$OUT/provenance.json" "$2"
}
log=$(mktemp)
while read -r image; do
  reference=$REGISTRY/culvert-${image%%:*}@${image#*@}
  sign "${image%%:*}" "$reference" 2>"$log" || die "cosign: signing $reference failed: $(tail -n 1 "$log")"
done <"$OUT/digests"
rm "$log"
