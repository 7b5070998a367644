#!/bin/sh
# Pushes what is in dist/VERSION: images, and the chart as oci://REGISTRY/culvert. If it can sign, signs the images and
# attests their SBOMs and their provenance. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
. "$here/registry.sh"

grep -qs "$(git rev-parse HEAD)" "$OUT/provenance.json" || die "$OUT was not made from this commit: make release first"
plain_images='' plain_chart=''
! has_no_tls "$REGISTRY" || plain_images=--dest-tls-verify=false plain_chart=--plain-http
while IFS=: read -r name _; do
  # shellcheck disable=SC2086 # an option or nothing
  skopeo copy --quiet --all --preserve-digests $plain_images "oci-archive:$OUT/images/culvert-$name.oci.tar" \
    "docker://$REGISTRY/culvert-$name:$VERSION"
done <"$OUT/digests"
# shellcheck disable=SC2086 # an option or nothing
"$(sh deploy/kubernetes/helm.sh)" push $plain_chart "$OUT/culvert-$VERSION.tgz" "oci://$REGISTRY"

signer
[ -n "$key" ] || exit 0
! has_no_tls "$REGISTRY" || key="$key --allow-http-registry"
# sign NAME REFERENCE
sign() {
  # shellcheck disable=SC2086 # options
  cosign sign $key --recursive "$2" && for sbom in "$OUT/culvert-$1"-*.cdx.json; do
    cosign attest $key --type cyclonedx --predicate "$sbom" "$2" || return
  done && cosign attest $key --type slsaprovenance1 --predicate "$OUT/provenance.json" "$2"
}
log=$(mktemp)
while read -r image; do
  reference=$REGISTRY/culvert-${image%%:*}@${image#*@}
  sign "${image%%:*}" "$reference" 2>"$log" || die "cosign: signing $reference failed: $(tail -n 1 "$log")"
done <"$OUT/digests"
rm "$log"
