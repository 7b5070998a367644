# shellcheck shell=sh disable=SC2154 # unchanged, services: stack.sh
# Builds the images, or gets those that are not built here. Sourced after stack.sh.

# export_build_settings: exports what a build gets besides the settings: the key that all builds share, and the release.
# With the containerd image store, a default attestation would give each build another image id, and unchanged
# containers would be replaced (https://github.com/docker/compose/issues/14111).
export_build_settings() {
  web_image=$(setting WEB_IMAGE)
  [ -z "$web_image" ] || get_web_image "$web_image"
  # https://nextjs.org/docs/app/guides/self-hosting#server-functions-encryption-key
  SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$PWD/.culvert/server-actions.key")
  [ -s "$SERVER_ACTIONS_KEY_FILE" ] || (umask 077 && head -c 32 /dev/urandom | base64 >"$SERVER_ACTIONS_KEY_FILE")
  export SERVER_ACTIONS_KEY_FILE BUILDX_NO_DEFAULT_ATTESTATIONS=1
  release=$(setting SENTRY_RELEASE "$(default_release "$web_image")")
  [ -z "$release" ] || export SENTRY_RELEASE="$release"
}

# default_release WEB_IMAGE: prints the default of SENTRY_RELEASE. A release that make rollback put back keeps its name.
# Otherwise it is the commit of web/, or the image's name with its tag, or the image id for a tag that moves.
default_release() {
  back=${1:-:$(setting WEB_TAG)} name=${1##*/}
  back=$(releases | awk -v release="${back##*:}" '$1 == release { print $4 }')
  if [ -n "$back" ]; then
    [ "$back" = - ] || echo "$back"
  elif [ -z "$1" ]; then
    git describe --always --dirty --exclude='*' 2>/dev/null || true
  else
    case ${name%:latest} in *:*) tag=${name##*:} ;; *) tag=$(image_id "$1" | cut -c 8-19) ;; esac
    echo "${name%%[:@]*}@$tag"
  fi
}

# build: builds what is built here, but web if a release of it was put back, and pulls what is missing.
build() {
  to_build=$services pinned=$(setting WEB_TAG) tag_file=$(env_file WEB_TAG)
  if [ -n "$pinned" ] && [ -z "$(setting WEB_IMAGE)" ]; then
    say "    web stays at $pinned, which make rollback has put back: to build web/ again, remove WEB_TAG from $tag_file"
    [ -n "$(image_id "$(repository):$pinned")" ] ||
      die "WEB_TAG: $(repository):$pinned is not on this machine:" \
        "remove WEB_TAG from $tag_file to build web/; $unchanged"
    to_build=$(echo "$services" | grep -vx web)
  fi
  # shellcheck disable=SC2086 # a list
  docker compose build $to_build >&2 || die "the build failed: the reason is above; $unchanged"
  for image in $(docker compose config --images); do
    get_image "$image" || die "$image cannot be pulled: the reason is above; $unchanged"
  done
}
