#!/bin/sh
# Packs the Helm chart with this release's images, pinned by digest. Part of release.sh.
set -eu
helm=$(sh deploy/chart/helm.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -L: with the files behind its symbolic links.
cp -RL deploy/chart "$work/culvert"
# The digest is part of the tag: another image's tag replaces both. The app's image is the team's, so that its tag must
# be enough.
awk -v registry="$REGISTRY" '
  NR == FNR { at = index($0, ":"); tag["culvert-" substr($0, 1, at - 1)] = substr($0, at + 1); next }
  match($0, /repository: culvert-[a-z]+/) { image = substr($0, RSTART + 12, RLENGTH - 12); sub(image, registry "/" image) }
  image != "culvert-web" { sub(/tag: ""/, "tag: \"" tag[image] "\"") }
  { print }' "$OUT/digests" deploy/chart/values.yaml >"$work/culvert/values.yaml"
printf 'home: %s\nsources: [%s]\nannotations: { org.opencontainers.image.licenses: Apache-2.0, org.opencontainers.image.revision: %s }\n' \
  "$SOURCE_URL" "$SOURCE_URL" "$(git rev-parse HEAD)" >>"$work/culvert/Chart.yaml"
# Helm keeps the files' times.
find "$work/culvert" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
"$helm" package "$work/culvert" --version "$VERSION" --app-version "$VERSION" --destination "$OUT" >/dev/null
