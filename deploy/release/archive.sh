#!/bin/sh
# Packs what a host needs without a clone, as culvert-VERSION.tar.gz, and the compose file alone. Images are those of this release, pinned
# by digest. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/culvert-$VERSION

# reference NAME: prints the reference of an image, for a compose file. CULVERT_REGISTRY names a mirror; an empty CULVERT_DIGESTS, for
# images from `docker load`, leaves the digest out.
reference() {
  sed -n "s|^$1:\(.*\)\(@.*\)|\${CULVERT_REGISTRY:-$REGISTRY}/culvert-$1:\1\${CULVERT_DIGESTS-\2}|p" "$OUT/digests"
}

# Each service "builds" a Dockerfile that only names its image, as for WEB_IMAGE: the same names, labels and releases as in a clone.
with_released_images() {
  from='context: ./deploy/web-image'
  sed -e "s|^    build: \./proxy\$|    build: { $from, args: [\"WEB_IMAGE=$(reference proxy)\"] }|" \
    -e "s|^    build: \./proxy/spool\$|    build: { $from, args: [\"WEB_IMAGE=$(reference spool)\"] }|" \
    -e "s|^    build: \./deploy/acme\$|    build: { $from, args: [\"WEB_IMAGE=$(reference acme)\"] }|" \
    -e "s|^      context: \./deploy/ingest\$|      $from\\n      args: [\"WEB_IMAGE=$(reference ingest)\"]|" \
    -e "s|^      context: \./web\$|      $from|" -e '/^      dockerfile: /d' \
    -e "s|WEB_IMAGE=\${WEB_IMAGE:-}|WEB_IMAGE=\${WEB_IMAGE:-$(reference web)}|"
}

# For people who want neither Make nor a folder: the services of the path only, and profiles in place of the files that select services.
compose_file_alone() {
  for name in proxy spool web acme ingest; do echo "$name $(reference "$name")"; done |
    awk '
      NR == FNR { image[$1] = $2; next }
      /^  [a-z]+:/ && section == "services" { service = $1; sub(":", "", service); kept = service in image }
      /^[a-z]/ { section = $1; sub(":", "", section); kept = 1 }
      skip && /^      / { next }
      { skip = 0 }
      !kept { next }
      /^    build:/ { print "    image: " (service == "web" ? "${WEB_IMAGE:-" image[service] "}" : image[service]); skip = 1; next }
      /^    extends:/ { print "    profiles: [" (service == "ingest" ? "local" : "acme") "]"; next }
      { print }' - docker-compose.yml
}

mkdir -p "$folder"
git ls-files -z LICENSE CHANGELOG.md SECURITY.md VERSION Makefile .env.example docs deploy/host deploy/bare-machine deploy/doctor proxy/spool/src deploy/monitoring deploy/web-image \
  deploy/acme/*.yml deploy/ingest/*.yml deploy/release/verify.sh deploy/release/registry.sh deploy/kubernetes/components/monitoring ':!*.test.ts' | xargs -0 cp --parents -t "$folder"
with_released_images <docker-compose.yml >"$folder/docker-compose.yml"
sed "s|VERSION|$VERSION|g; s|https://github.com/culvert/culvert|$SOURCE_URL|g" "$here/install.md" >"$folder/README.md"
node "$here/without-clone.mjs" "$folder" "$SOURCE_URL/blob/v$VERSION"
compose_file_alone >"$OUT/docker-compose.yml"
# The same bytes for the same commit.
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" -cf - "culvert-$VERSION" |
  gzip -n9 >"$OUT/culvert-$VERSION.tar.gz"
