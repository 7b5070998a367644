#!/bin/sh
# Writes the provenance and SHA256SUMS; with COSIGN_KEY or in a workflow with an OIDC token, signs SHA256SUMS. Part of
# release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
. "$here/registry.sh"

# base_images: prints each that images.sh has resolved, as SLSA's resolvedDependencies.
base_images() {
  [ ! -f "$OUT/base-images" ] ||
    sed 's|\(.*\):\(.*\)@sha256:\(.*\)|,\n      { "uri": "pkg:docker/\1@\2", "digest": { "sha256": "\3" } }|' \
      "$OUT/base-images"
}

builder=Makefile
[ -z "${GITHUB_ACTIONS:-}" ] || builder=.github/workflows/release.yml
# https://slsa.dev/spec/v1.0/provenance
cat >"$OUT/provenance.json" <<JSON
{ "buildDefinition": {
    "buildType": "$SOURCE_URL/blob/v$VERSION/deploy/release/README.md",
    "externalParameters": { "version": "$VERSION", "platforms": "$PLATFORMS" },
    "resolvedDependencies": [{ "uri": "git+$SOURCE_URL@refs/tags/v$VERSION",
      "digest": { "gitCommit": "$(git rev-parse HEAD)" } }$(base_images)] },
  "runDetails": { "builder": { "id": "$SOURCE_URL/blob/v$VERSION/$builder" } } }
JSON

(cd "$OUT" && find . -type f ! -name 'SHA256SUMS*' | sed 's|^\./||' | sort | xargs sha256sum) >"$OUT/SHA256SUMS"

signer
if [ -z "$key" ]; then
  say "    not signed: set COSIGN_KEY to a key of 'cosign generate-key-pair'"
  exit 0
fi
# shellcheck disable=SC2086 # options
cosign sign-blob $key --bundle "$OUT/SHA256SUMS.bundle" "$OUT/SHA256SUMS" >/dev/null
