# shellcheck shell=sh disable=SC2154 # unchanged: stack.sh; services: up.sh; build_ca: lib.sh, OWN_KEY: preflight.sh
# Builds the images, or gets those that are not built here.

# export_build_settings: exports the release, and what builds get besides the settings: the key that they share. Without
# attestations, an unchanged image keeps its id (https://github.com/docker/compose/issues/14111).
export_build_settings() {
  web_image=$(setting WEB_IMAGE)
  [ -z "$web_image" ] || get_web_image "$web_image"
  SERVER_ACTIONS_KEY_FILE=$(setting SERVER_ACTIONS_KEY_FILE "$OWN_KEY")
  export SERVER_ACTIONS_KEY_FILE BUILDX_NO_DEFAULT_ATTESTATIONS=1
  # For `docker compose build` by hand. A release has no sources.
  if [ -d web ]; then
    [ "$SERVER_ACTIONS_KEY_FILE" != "$OWN_KEY" ] || save SERVER_ACTIONS_KEY_FILE "$OWN_KEY"
    [ "$BUILD_CA_FILE" != "$build_ca" ] || save BUILD_CA_FILE "$build_ca"
  fi
  WEB_RELEASE=$(setting SENTRY_RELEASE "$(default_release "$web_image")")
  export WEB_RELEASE
}

# default_release WEB_IMAGE: prints the default of SENTRY_RELEASE: the name that a release had before make rollback put
# it back, the commit, or NAME@TAG of WEB_IMAGE (NAME@ID if its tag is latest). Nothing if the image has one.
default_release() {
  back=${1:-:$(setting WEB_TAG)} name=${1##*/}
  back=$(releases | awk -F '\t' -v release="${back##*:}" '$1 == release { print $4 }')
  if [ -n "$back" ]; then
    [ "$back" = - ] || printf '%s\n' "$back"
  elif [ -z "$1" ]; then
    git describe --always --dirty --exclude='*' 2>/dev/null || true
  elif ! variables "$1" | grep -q '^SENTRY_RELEASE=.'; then
    case ${name%:latest} in *:*) tag=${name##*:} ;; *) tag=$(image_id "$1" | cut -c 8-19) ;; esac
    echo "${name%%[:@]*}@$tag"
  fi
}

# build: builds what is built here, but web if a release of it was put back, and pulls what is missing.
build() {
  to_build=$services pinned=$(setting WEB_TAG) tag_file=$(env_file WEB_TAG)
  if [ -n "$pinned" ] && [ -z "$(setting WEB_IMAGE)" ]; then
    fix="remove WEB_TAG from $tag_file"
    say "    web stays at $pinned, which make rollback has put back: to build web/ again, $fix"
    [ -n "$(image_id "$(repository):$pinned")" ] ||
      die "WEB_TAG: $(repository):$pinned is not on this machine: $fix to build web/; $unchanged"
    to_build=$(echo "$services" | grep -vx web)
  fi
  # shellcheck disable=SC2086 # a list
  docker compose build $to_build >&2 || die "the build failed: the reason is above; $unchanged"
  images=$(printf '%s\n' "$config" | sed -n '/^services:/,/^[^ ]/s/^    image: //p')
  # shellcheck disable=SC2086 # a list
  docker image inspect $images >/dev/null 2>&1 || for image in $images; do
    get_image "$image" || die "$image cannot be pulled: the reason is above; $unchanged"
  done
}
