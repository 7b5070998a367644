#!/bin/sh
# Packs the Helm chart with this release's images, pinned by digest, and pushes it as oci://REGISTRY/culvert if PUSH=yes. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/registry.sh"
helm=$(sh deploy/chart/helm.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -L: with the files behind its symbolic links.
cp -RL deploy/chart "$work/culvert"
awk -v registry="$REGISTRY" '
  NR == FNR { split($0, part, /[:@]/); digest["culvert-" part[1]] = "sha256:" part[4]; next }
  match($0, /repository: culvert-[a-z]+/) {
    image = substr($0, RSTART + 12, RLENGTH - 12)
    if (image in digest) sub(image, registry "/" image); else image = ""
  }
  image && /digest: ""/ { sub(/digest: ""/, "digest: " digest[image]); image = "" }
  { print }' "$OUT/digests" deploy/chart/values.yaml >"$work/culvert/values.yaml"
# Helm keeps the files' times.
find "$work/culvert" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
"$helm" package "$work/culvert" --version "$VERSION" --app-version "$VERSION" --destination "$OUT" >/dev/null
[ "${PUSH:-no}" = yes ] || exit 0
if has_no_tls "$REGISTRY"; then plain=--plain-http; else plain=''; fi
# shellcheck disable=SC2086 # an option or nothing
"$helm" push $plain "$OUT/culvert-$VERSION.tgz" "oci://$REGISTRY"
