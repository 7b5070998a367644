#!/bin/sh
# Builds each image for all platforms as one OCI archive, with labels and an SBOM, and pushes it if PUSH=yes. Part of release.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"
. "$here/registry.sh"

created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
revision=$(git rev-parse HEAD)
# Actions of the example app are encrypted with a key that everybody can read in its image. An app of your own has a key of its own.
key=$(mktemp)
trap 'rm -f "$key"' EXIT
printf 'culvert-example-app-without-secret' | head -c 32 | base64 >"$key"

# bases FILE: prints an option for each base image of a Dockerfile, if BASE_REGISTRY replaces Docker Hub.
bases() {
  [ -n "${BASE_REGISTRY:-}" ] || return 0
  sed -n 's/^FROM \([a-z][a-z0-9.:-]*:[a-z0-9.-]*\).*/\1/p' "$1" | sort -u | while read -r base; do
    printf ' --build-context %s=docker-image://%s/%s' "$base" "$BASE_REGISTRY" "$base"
  done
}

if has_no_tls "$REGISTRY"; then plain=--dest-tls-verify=false; else plain=''; fi

# image NAME CONTEXT DOCKERFILE: builds and, with PUSH=yes, pushes it. Adds "NAME:VERSION@DIGEST" to the file `digests`.
image() {
  archive=$OUT/images/culvert-$1.oci.tar
  # shellcheck disable=SC2046 # options
  docker buildx build --quiet --platform "$PLATFORMS" --provenance=false --file "$3" $(bases "$3") \
    --secret "id=build_ca,src=${BUILD_CA_FILE:-/dev/null}" --secret "id=server_actions_key,src=$key" \
    --label "org.opencontainers.image.version=$VERSION" --label "org.opencontainers.image.revision=$revision" \
    --label "org.opencontainers.image.created=$created" --label org.opencontainers.image.licenses=Apache-2.0 \
    --label "org.opencontainers.image.source=$SOURCE_URL" --label "org.opencontainers.image.title=culvert-$1" \
    --output "type=oci,dest=$archive,name=$REGISTRY/culvert-$1:$VERSION,rewrite-timestamp=true,compression=gzip,force-compression=true" "$2" >/dev/null
  digest=$(tar -xOf "$archive" index.json | grep -o 'sha256:[0-9a-f]*' | head -n 1)
  echo "$1:$VERSION@$digest" >>"$OUT/digests"
  say "    culvert-$1 $digest"
  # shellcheck disable=SC2086 # an option or nothing
  [ "${PUSH:-no}" != yes ] ||
    skopeo copy --quiet --all --preserve-digests $plain "oci-archive:$archive" "docker://$REGISTRY/culvert-$1:$VERSION"
  node "$here/sbom.mjs" "$1" "$OUT/sbom" "$2" "$archive"
}

mkdir -p "$OUT/images"
image proxy proxy proxy/Dockerfile
image spool proxy/spool proxy/spool/Dockerfile
image web web web/Dockerfile
image acme deploy/acme deploy/acme/Dockerfile
image ingest deploy/ingest deploy/ingest/Dockerfile
