# shellcheck shell=sh
# The releases of web that `make rollback` can put back. .culvert/<project>.releases has a line for each, the last
# deployed last: RELEASE IMAGE_ID IMAGE SENTRY_RELEASE TIME [undone], with tabs between them. RELEASE is the short image
# id, and a tag of <project>-web, too, so that `docker image prune` leaves the image.

MAX_RELEASES=6 # the running one and five others
tab=$(printf '\t')

repository() { echo "$COMPOSE_PROJECT_NAME-web"; }
releases_file() { echo ".culvert/$COMPOSE_PROJECT_NAME.releases"; }
# Earlier versions wrote spaces.
releases() { sed "/$tab/!s/ /$tab/g" "$(releases_file)" 2>/dev/null || true; }

# find_release NAME: prints the line of the last one with this RELEASE or SENTRY_RELEASE.
find_release() { releases | awk -F '\t' -v name="$1" '$1 == name || $4 == name' | tail -n 1; }
is_remembered() { releases | cut -f 2 | grep -qxF -e "$1"; }

# release_before IMAGE_ID: prints the last release before this one that was not undone, if any.
release_before() {
  releases | awk -F '\t' -v image="$1" '$2 == image { exit } $6 == "" { before = $1 } END { print before }'
}

# write_releases: replaces the file by standard input, and forgets the oldest.
write_releases() {
  tail -n "$MAX_RELEASES" >"$(releases_file).new"
  for forgotten in $(releases | cut -f 1 | grep -vxF -e "$(cut -f 1 "$(releases_file).new")"); do
    docker image rm "$(repository):$forgotten" >/dev/null 2>&1 || true
  done
  mv "$(releases_file).new" "$(releases_file)"
}

# remember_web: makes the release of web's newest container the last one, and no longer undone.
remember_web() {
  read -r newest _ _ _ _ id named _ <<LINE
$(lines_of web)
LINE
  short=$(printf '%s\n' "$id" | cut -c 8-19)
  name=$(variables "$newest" | sed -n 's/^SENTRY_RELEASE=//p' | tr '\t' ' ')
  docker tag "$id" "$(repository):$short"
  {
    releases | awk -F '\t' -v image="$id" '$2 != image'
    printf '%s\t%s\t%s\t%s\t%s\n' "$short" "$id" "$named" "${name:--}" "$(date -u +%Y-%m-%dT%H:%M:%S)"
  } | write_releases
}

# undo_release IMAGE_ID: marks it, so that no rollback chooses it.
undo_release() {
  releases | awk -F '\t' -v OFS='\t' -v undone="$1" '$2 == undone { $6 = "undone" } 1' | write_releases
}
