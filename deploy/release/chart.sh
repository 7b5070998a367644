#!/bin/sh
# Packs the Helm chart with this release's images, pinned by digest, and renders its defaults for teams without Helm.
# Part of release.sh.
set -eu
helm=$(sh deploy/kubernetes/helm.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git ls-files -z deploy/kubernetes ':!deploy/kubernetes/test' | xargs -0 cp --parents -t "$work"
chart=$work/deploy/kubernetes
# The digest is part of the tag: another image's tag replaces both. The app's image is the team's, so that its tag must
# be enough.
awk -v registry="$REGISTRY" '
  NR == FNR { at = index($0, ":"); tag["culvert-" substr($0, 1, at - 1)] = substr($0, at + 1); next }
  match($0, /repository: culvert-[a-z]+/) {
    image = substr($0, RSTART + 12, RLENGTH - 12)
    sub(image, registry "/" image)
  }
  image != "culvert-web" { sub(/tag: ""/, "tag: \"" tag[image] "\"") }
  { print }' "$OUT/digests" deploy/kubernetes/values.yaml >"$chart/values.yaml"
cat >>"$chart/Chart.yaml" <<YAML
home: $SOURCE_URL
sources: [$SOURCE_URL]
annotations:
  org.opencontainers.image.licenses: Apache-2.0
  org.opencontainers.image.revision: $(git rev-parse HEAD)
YAML
# Helm keeps the files' times.
find "$chart" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
"$helm" package "$chart" --version "$VERSION" --app-version "$VERSION" --destination "$OUT" >/dev/null
"$helm" template culvert "$OUT/culvert-$VERSION.tgz" --set test.enabled=false >"$OUT/culvert-$VERSION.yaml"
sed "s|VERSION|$VERSION|; s|REGISTRY|$REGISTRY|" deploy/release/kustomization.yaml >"$OUT/kustomization.yaml"
