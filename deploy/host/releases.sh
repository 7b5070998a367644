# shellcheck shell=sh
# The releases of web that `make rollback` can put back. .culvert/<project>.releases has a line for each, the last
# deployed last: RELEASE IMAGE_ID IMAGE SENTRY_RELEASE TIME [undone]. RELEASE is a tag of <project>-web, too, so
# that `docker image prune` leaves the image. Sourced after stack.sh.

MAX_RELEASES=6 # the running one and five others

repository() { echo "$COMPOSE_PROJECT_NAME-web"; }
releases_file() { echo ".culvert/$COMPOSE_PROJECT_NAME.releases"; }
releases() { cat "$(releases_file)" 2>/dev/null || true; }

find_release() { releases | awk -v release="$1" '$1 == release'; }
is_remembered() { releases | cut -d ' ' -f 2 | grep -qxF -e "$1"; }

# release_before IMAGE_ID: prints the last release before this one that was not undone, if any.
release_before() {
  releases | awk -v image="$1" '$2 == image { exit } $6 == "" { before = $1 } END { print before }'
}

# write_releases: replaces the file by standard input, and forgets the oldest.
write_releases() {
  mkdir -p .culvert
  tail -n "$MAX_RELEASES" >"$(releases_file).new"
  for forgotten in $(releases | cut -d ' ' -f 1 | grep -vxF -e "$(cut -d ' ' -f 1 "$(releases_file).new")"); do
    docker image rm "$(repository):$forgotten" >/dev/null 2>&1 || true
  done
  mv "$(releases_file).new" "$(releases_file)"
}

# release_of CONTAINER: prints what a line needs of it: IMAGE_ID IMAGE SENTRY_RELEASE.
release_of() {
  docker inspect --format '{{.Image}} {{.Config.Image}} {{range .Config.Env}}{{println .}}{{end}}' "$1" |
    awk 'NR == 1 { image = $1 " " $2; $0 = $3 }
      sub(/^SENTRY_RELEASE=/, "") { release = $0 }
      END { print image, release ? release : "-" }'
}

commit() { git describe --always --dirty --exclude='*' 2>/dev/null || true; }

# tag_of IMAGE: prints its tag; of a digest, or of the image id if the tag is latest, 12 characters.
tag_of() {
  tag_name=${1##*/}
  case ${tag_name%:latest} in
    *@*) printf '%.12s\n' "${tag_name##*:}" ;;
    *:*) echo "${tag_name##*:}" ;;
    *) short_id "$1" ;;
  esac
}
short_id() { docker image inspect --format '{{.Id}}' "$1" 2>/dev/null | cut -c 8-19; }

# remember_release IMAGE_ID IMAGE SENTRY_RELEASE: makes it the last one, and no longer undone. Its name is the commit if
# it was built here, else the image's tag, with the image id if another image has that name already.
remember_release() {
  name=$(case $2 in "$(repository)" | "$(repository):latest") commit ;; esac)
  name=${name:-$(tag_of "$2")}
  others=$(releases | awk -v image="$1" '$2 != image')
  ! echo "$others" | grep -q "^$name " || name=$name-$(short_id "$1")
  docker tag "$1" "$(repository):$name"
  printf '%s\n' "$others" "$name $1 $2 $3 $(date -u +%Y-%m-%dT%H:%M:%S)" | grep . | write_releases
}

# undo_release IMAGE_ID [OTHER_ID]: marks it, so that no rollback chooses it. The other one was put back: no mark.
undo_release() {
  releases | awk -v undone="$1" -v other="${2:-}" '
    $2 == undone { $6 = "undone" }
    $2 == other { NF = 5 }
    { print }' | write_releases
}

# remember_web: makes the release of web's newest container the last one.
remember_web() {
  # shellcheck disable=SC2046 # three words
  remember_release $(release_of "$(containers web | head -n 1)")
}

# digest_of IMAGE: prints the digest that its registry knows it by, or the id of an image that comes from no registry.
digest_of() {
  docker image inspect --format '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}' "$1" | sed 's/.*@//'
}
