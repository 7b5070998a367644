#!/bin/sh
# release.sh: builds and pushes the images of proxy, spool and web as $REGISTRY/culvert-<name>:$VERSION, then the Helm chart that names
# them, as oci://$REGISTRY/culvert. Log in first (`docker login`, whose credentials Helm uses too). The chart is pushed last, when all of
# its images exist.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"

printf '%s\n' "${VERSION:-}" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$' ||
  die "VERSION: '${VERSION:-}' is not a semantic version: use one such as 1.0.0"
printf '%s\n' "${REGISTRY:-}" | grep -qE '^[a-z0-9.-]+(:[0-9]+)?(/[a-z0-9._-]+)*$' ||
  die "REGISTRY: '${REGISTRY:-}' is not a registry: use host[:port][/path] without a scheme, such as registry.example.com/culvert"
helm=$(sh "$here/helm.sh")
case $REGISTRY in localhost:* | 127.0.0.1:*) plain=--plain-http ;; *) plain='' ;; esac

root=$(cd "$here/../.." && pwd)
cd "$root"
# shellcheck source=../host/settings.sh
. "$here/../host/settings.sh"
# shellcheck source=../host/ports.sh
. "$here/../host/ports.sh"
export_build_files
project=$(project_name)
images=''
for name in proxy spool web; do
  image=$REGISTRY/culvert-$name:$VERSION
  docker compose build "$name"
  docker tag "$project-$name" "$image"
  docker push "$image"
  images="$images\\n  culvert-$name: $image"
done
# Right for a first release; an upgrade names the running release.
images="$images\\n  culvert-web-previous: $REGISTRY/culvert-web:$VERSION"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -L: with the files behind its symbolic links.
cp -RL deploy/chart "$work/culvert"
{
  sed '/^images: {}$/,$d' deploy/chart/values.yaml
  printf '%b\n' "images:$images"
  sed '1,/^images: {}$/d' deploy/chart/values.yaml
} >"$work/culvert/values.yaml"
"$helm" package "$work/culvert" --version "$VERSION" --app-version "$VERSION" --destination "$work" >/dev/null
# shellcheck disable=SC2086 # an option or nothing
"$helm" push $plain "$work/culvert-$VERSION.tgz" "oci://$REGISTRY"
