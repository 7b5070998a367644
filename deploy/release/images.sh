#!/bin/sh
# Builds each image for all platforms as one OCI archive, with labels, and writes their SBOMs. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"

created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
revision=$(git rev-parse HEAD)
# Actions of the example app are encrypted with a key that everybody can read in its image. An app of your own has a key
# of its own.
key=$(mktemp) manifest=$(mktemp)
trap 'rm -f "$key" "$manifest"' EXIT
printf 'culvert-example-app-without-secret' | head -c 32 | base64 >"$key"

# Each base image is resolved once, so that all images, and the provenance, have one digest. This machine's own have
# none.
bases=''
for base in $(deploy/bare-machine/base-images.sh); do
  source=${BASE_REGISTRY:-docker.io/library}/$base
  if docker buildx imagetools inspect --raw "$source" >"$manifest" 2>/dev/null; then
    digest=sha256:$(sha256sum <"$manifest" | cut -d ' ' -f 1)
    echo "$base@$digest" >>"$OUT/base-images"
    bases="$bases --build-context $base=docker-image://$source@$digest"
  else
    [ -z "${BASE_REGISTRY:-}" ] || die "BASE_REGISTRY: $source cannot be read: push it there, or log in"
  fi
done

# image NAME CONTEXT DOCKERFILE: builds it, and adds "NAME:VERSION@DIGEST" to the file `digests`.
gzip=compression=gzip,force-compression=true
image() {
  archive=$OUT/images/culvert-$1.oci.tar
  # shellcheck disable=SC2086 # options
  docker buildx build --quiet --platform "$PLATFORMS" --provenance=false --file "$3" $bases \
    --secret "id=build_ca,src=${BUILD_CA_FILE:-/dev/null}" --secret "id=server_actions_key,src=$key" \
    --label "org.opencontainers.image.version=$VERSION" --label "org.opencontainers.image.revision=$revision" \
    --label "org.opencontainers.image.created=$created" --label org.opencontainers.image.licenses=Apache-2.0 \
    --label "org.opencontainers.image.source=$SOURCE_URL" --label "org.opencontainers.image.title=culvert-$1" \
    --output "type=oci,dest=$archive,name=$REGISTRY/culvert-$1:$VERSION,rewrite-timestamp=true,$gzip" "$2" >/dev/null
  digest=$(tar -xOf "$archive" index.json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
  echo "$1:$VERSION@$digest" >>"$OUT/digests"
  say "    culvert-$1 $digest"
  for platform in $(echo "$PLATFORMS" | tr , ' '); do
    syft scan "oci-archive:$archive" --quiet --platform "$platform" --source-name "culvert-$1" \
      --source-version "$VERSION" --output "cyclonedx-json=$OUT/culvert-$1-${platform#linux/}.cdx.json"
  done
}

mkdir -p "$OUT/images"
image proxy proxy proxy/Dockerfile
image spool proxy/spool proxy/spool/Dockerfile
image web web web/Dockerfile
image acme deploy/acme deploy/acme/Dockerfile
image ingest deploy/ingest deploy/ingest/Dockerfile
