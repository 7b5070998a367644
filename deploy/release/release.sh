#!/bin/sh
# Makes a release from a clean tag, into dist/VERSION: images for amd64 and arm64, SBOMs, the package, the chart, the
# archive, checksums and signatures. With PUSH=yes, only pushes images and chart that were made before to REGISTRY.
# Settings: README.md beside this file.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
cd "$here/../.."

released=$(cat VERSION)
[ "${VERSION:=$released}" = "$released" ] ||
  die "VERSION: '$VERSION' is not this commit's version: the file VERSION has $released"
[ -z "$(git status --porcelain)" ] || die "the checkout has changes: commit them, or release from a clean clone"
[ "$(git tag --points-at HEAD --list "v$VERSION")" ] ||
  die "this commit is not v$VERSION: git tag v$VERSION, or check that tag out"
: "${REGISTRY:=ghcr.io/culvert}" "${SOURCE_URL:=https://github.com/culvert/culvert}" \
  "${PLATFORMS:=linux/amd64,linux/arm64}"
printf "%s\n" "$REGISTRY" | grep -qE '^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$' ||
  die "REGISTRY: '$REGISTRY' is not a registry: use host[:port][/path] without a scheme, such as" \
    "registry.example.com/culvert"
grep -qE "^## \[$VERSION\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
  die "CHANGELOG.md: $VERSION has no date: its heading is '## [$VERSION] - $(date +%F)'"
for tool in docker skopeo syft npm node; do has "$tool" || die "$tool: not found: install it"; done

# The same commit gives the same bytes: every timestamp is the commit's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
OUT=$PWD/dist/$VERSION
export VERSION OUT REGISTRY SOURCE_URL PLATFORMS SOURCE_DATE_EPOCH
if [ "${PUSH:-no}" = yes ]; then
  step 'Push' sh "$here/push.sh"
  exit
fi
rm -rf "$OUT"
mkdir -p "$OUT"

# First what is fast, and fails if the package was forgotten.
step 'Package' sh "$here/package.sh"
step 'Images' sh "$here/images.sh"
step 'Images for docker load' sh "$here/docker-archives.sh"
step 'Chart' sh "$here/chart.sh"
step 'Archive' sh "$here/archive.sh"
step 'Checksums and signatures' sh "$here/sign.sh"

echo
(cd "$OUT" && find . -type f | sort | while read -r file; do
  printf '%9d kB  %s\n' $(($(wc -c <"$file") / 1024)) "${file#./}"
done)
echo
sed "s|^|  $REGISTRY/culvert-|" "$OUT/digests"
echo "  Another run gives the same digests, except for web (new keys) and acme (Debian's packages)."
