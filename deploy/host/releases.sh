# shellcheck shell=sh
# The releases of web that `make rollback` can put back: images with a tag of their own, release-<UTC time when make up started it last>.
# Sourced after stack.sh.

MAX_RELEASES=6 # the running one and five others

repository() { echo "$COMPOSE_PROJECT_NAME-web"; }

# releases: prints tag and image id of each release, the last deployed first.
releases() { docker image ls --no-trunc --format '{{.Tag}} {{.ID}}' "$(repository)" | grep '^release-' | sort -r; }
tags_of() { releases | awk -v image="$1" '$2 == image { print $1 }'; }
release_image() { releases | awk -v tag="$1" '$1 == tag { print $2 }'; }

# Releases that a rollback has undone, and that were not put back since, have a second tag. undone: prints their image ids.
undone_tag() { echo "undone-$(printf '%.12s' "${1#sha256:}")"; }
undone() { docker image ls --no-trunc --format '{{.Tag}} {{.ID}}' "$(repository)" | sed -n 's/^undone-.* //p'; }
is_undone() { undone | grep -qxF -e "$1"; }
forget_undone() { docker image rm "$(repository):$(undone_tag "$1")" >/dev/null 2>&1 || true; }

# tag_before IMAGE: prints the tag of the release that was deployed before this one, if there is one; never of one that was undone.
tag_before() {
  releases | awk -v running="$1" -v undone="$(undone | tr '\n' ' ')" '
    $2 == running { found = 1; next }
    index(undone, $2) { next }
    !newest { newest = $1 }
    found { print $1; exit }
    END { if (!found) print newest }'
}

# label IMAGE NAME: prints a label that its build gave it: culvert.release (SENTRY_RELEASE), culvert.image (WEB_IMAGE) or culvert.digest.
label() { docker image inspect --format "{{index .Config.Labels \"culvert.$2\"}}" "$1"; }

# digest_of IMAGE: prints the digest that its registry knows it by, or the id of an image that comes from no registry.
digest_of() { docker image inspect --format '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}' "$1" | sed 's/.*@//'; }

# running_image: prints the image of web; if an interrupted command has left two releases, that of the later one, which may have no tag yet.
running_image() {
  for container in $(alive web); do
    image=$(image_of "$container")
    echo "$(tags_of "$image" | grep . || echo release-untagged) $image"
  done | sort -r | awk 'NR == 1 { print $2 }'
}

# untag TAG: forgets a release. Never an error: the engine keeps the last name of an image that a container uses.
untag() { untagged=$(docker image rm "$(repository):$1" 2>&1) || say "    $1 was not removed: $untagged"; }

# record IMAGE [renew]: makes it the last release, unless it is one, and forgets the oldest, but never this one. With `renew`, an older
# release becomes the last one again.
record() {
  recorded=$(tags_of "$1")
  if [ -z "$recorded" ] || { [ "${2:-}" = renew ] && [ "$(releases | awk 'NR == 1 { print $2 }')" != "$1" ]; }; then
    docker tag "$1" "$(repository):release-$(date -u +%Y%m%dT%H%M%SZ)"
    for tag in $recorded; do untag "$tag"; done
  fi
  releases | tail -n "+$((MAX_RELEASES + 1))" | while read -r tag image; do [ "$image" = "$1" ] || { untag "$tag"; forget_undone "$image"; }; done
}

# keep_undone: keeps the running release if what was built is what a rollback has undone.
keep_undone() {
  undone=$(image_id "$(repository)")
  is_undone "$undone" || return 0
  running=$(newest_image)
  [ -n "$running" ] || running=$(release_image "$(tag_before "$undone")")
  [ -n "$running" ] && [ "$running" != "$undone" ] || return 0
  docker tag "$running" "$(repository)"
  SENTRY_RELEASE=$(label "$running" release)
  export SENTRY_RELEASE
  say "==> Keeping $(tags_of "$running" | head -n 1): the image of .env and the sources is the one that make rollback has undone" \
    "(RELEASE=$(tags_of "$undone" | head -n 1) make rollback starts it all the same)"
}
