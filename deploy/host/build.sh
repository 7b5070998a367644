# shellcheck shell=sh
# Builds the images, or gets those that are not built here. Sourced after stack.sh, releases.sh and env-file.sh.

# export_build_settings: exports what a build gets besides the settings: the key that all builds share, and the release.
# With the containerd image store, a default attestation would give each build another image id, and unchanged
# containers would be replaced (https://github.com/docker/compose/issues/14111).
export_build_settings() {
  web_image=$(setting WEB_IMAGE)
  [ -z "$web_image" ] || get_web_image "$web_image"
  actions_key=$(deploy/host/server-actions-key.sh)
  SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$actions_key")
  export SERVER_ACTIONS_KEY_FILE BUILDX_NO_DEFAULT_ATTESTATIONS=1
  release=$(setting SENTRY_RELEASE "$(default_release "$web_image")")
  [ -z "$release" ] || export SENTRY_RELEASE="$release"
}

# default_release WEB_IMAGE: prints the default of SENTRY_RELEASE. A release that make rollback put back keeps its name.
# Otherwise it is the commit of web/, or the image's name and tag.
default_release() {
  had=${1:-$(repository):$(setting WEB_TAG)}
  had=$(find_release "${had#"$(repository):"}" | cut -d ' ' -f 4)
  if [ -n "$had" ]; then
    [ "$had" = - ] || echo "$had"
  elif [ -z "$1" ]; then
    commit
  else
    image_name=${1##*/}
    printf '%s@%s\n' "${image_name%%[:@]*}" "$(tag_of "$1")"
  fi
}

# build: builds what is built here, but web if a release of it was put back, and pulls what is missing.
build() {
  # shellcheck disable=SC2154 # of read_config
  to_build=$services
  pinned=$(setting WEB_TAG)
  if [ -n "$pinned" ] && [ -z "$(setting WEB_IMAGE)" ]; then
    say "    web stays at $pinned, which make rollback has put back:" \
      "to build web/ again, remove WEB_TAG from $(env_file WEB_TAG)"
    # shellcheck disable=SC2154 # kept: sets.sh
    [ -n "$(image_id "$(repository):$pinned")" ] ||
      die "WEB_TAG: $(repository):$pinned is not on this machine: remove WEB_TAG from $(env_file WEB_TAG) to build" \
        "web/; $kept"
    to_build=$(echo "$services" | without web)
  fi
  # shellcheck disable=SC2086,SC2154 # a list; kept: sets.sh
  docker compose build $to_build >&2 ||
    die "the build failed: the reason is above; $kept"
  for image in $(docker compose config --images); do
    docker image inspect "$image" >/dev/null 2>&1 || docker pull --quiet "$image" >&2 ||
      die "$image cannot be pulled: the reason is above; $kept"
  done
}
