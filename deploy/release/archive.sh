#!/bin/sh
# Packs what a host needs without a clone, as culvert-VERSION.tar.gz. The compose file is the repository's;
# deploy/images.yml names the images of this release, pinned by digest. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/culvert-$VERSION

# reference NAME: prints the reference of an image, for a compose file. CULVERT_REGISTRY names a mirror; an empty
# CULVERT_DIGESTS, for images from `docker load`, leaves the digest out.
reference() {
  sed -n "s|^$1:\(.*\)\(@.*\)|\${CULVERT_REGISTRY:-$REGISTRY}/culvert-$1:\1\${CULVERT_DIGESTS-\2}|p" "$OUT/digests"
}

images() {
  echo '# The images of this release. docker-compose.yml extends these services.'
  echo 'services:'
  for name in proxy spool acme ingest; do echo "  $name: { image: \"$(reference "$name")\" }"; done
  printf '  web:\n    image: %s\n' "\${WEB_TAG:+\${COMPOSE_PROJECT_NAME}-web:}\${WEB_TAG:-$(reference web)}"
  sed -n '/^    environment:/,$p' deploy/images.yml
}

mkdir -p "$folder"
git ls-files -z LICENSE CHANGELOG.md SECURITY.md VERSION Makefile .env.example docker-compose.yml docs deploy/lib.sh \
  deploy/settings/check.sh deploy/settings/defaults.env deploy/host deploy/bare-machine deploy/checks \
  deploy/monitoring deploy/images.*.yml deploy/web deploy/acme/*.yml deploy/front/app.yml \
  deploy/front/container.yml deploy/front/http.yml deploy/release/verify.sh deploy/release/registry.sh \
  deploy/kubernetes/monitoring ':!*.test.ts' ':!deploy/host/package.sh' |
  xargs -0 cp --parents -t "$folder"
images >"$folder/deploy/images.yml"
sed "s|VERSION|$VERSION|g; s|https://github.com/culvert/culvert|$SOURCE_URL|g" "$here/install.md" >"$folder/README.md"
node "$here/without-clone.mjs" "$folder" "$SOURCE_URL/blob/v$VERSION"
# The same bytes for the same commit.
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "culvert-$VERSION" |
  gzip -n9 >"$OUT/culvert-$VERSION.tar.gz"
