#!/bin/sh
# For hosts without a registry: all images of one architecture in one file for `docker load`. Part of release.sh.
set -eu
for platform in $(echo "$PLATFORMS" | tr , ' '); do
  arch=${platform#linux/}
  work=$(mktemp -d)
  while IFS=: read -r name _; do
    skopeo copy --quiet --override-arch "$arch" "oci-archive:$OUT/images/culvert-$name.oci.tar" \
      "docker-archive:$work/one.tar:$REGISTRY/culvert-$name:$VERSION"
    tar -xf "$work/one.tar" -C "$work"
    rm "$work/one.tar" "$work/repositories"
    mv "$work/manifest.json" "$work/$name.manifest"
  done <"$OUT/digests"
  # The format lists its images in one file; layers that images share are there once.
  sed -s 's/^\[//; s/\]$/,/' "$work"/*.manifest | tr -d '\n' | sed 's/^/[/; s/,$/]/' >"$work/manifest.json"
  rm "$work"/*.manifest
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -C "$work" \
    -cf "$OUT/culvert-$VERSION-images-$arch.tar" .
  rm -rf "$work"
done
