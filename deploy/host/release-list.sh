# shellcheck shell=sh
# The releases of web that rollback.sh can put back: images with a tag of their own, release-<UTC time of the deployment>. Sourced after
# rolling.sh, whose find_running and roll set the variables.
# shellcheck disable=SC2154

MAX_RELEASES=6 # the running one and five others

now() { date -u +%Y%m%dT%H%M%SZ; }

# releases: prints tag and image id of each release, the last deployed first.
releases() { docker image ls --no-trunc --format '{{.Tag}} {{.ID}}' "$repository" | grep '^release-' | sort -r; }

# image_of TAG, tags_of IMAGE: print the other column.
image_of() { releases | awk -v tag="$1" '$1 == tag { print $2 }'; }
tags_of() { releases | awk -v image="$1" '$2 == image { print $1 }'; }

# tag_before: prints the tag of the release that was deployed before the running one, if there is one.
tag_before() {
  releases | awk -v running="$old_image" '
    NR == 1 { newest = $1 }
    found && $2 != running { print $1; exit }
    $2 == running { found = 1 }
    END { if (!found) print newest }'
}

# name_of IMAGE: prints the SENTRY_RELEASE for which it was built.
name_of() { docker image inspect --format '{{index .Config.Labels "culvert.release"}}' "$1"; }

# untag TAG: forgets a release. Never an error: the engine keeps the last name of an image that a container uses.
untag() { error=$(docker image rm "$repository:$1" 2>&1) || say "    $1 was not removed: $error"; }

# record IMAGE TIME: makes IMAGE the release of TIME, and of no other.
record() {
  docker tag "$1" "$repository:release-$2"
  for tag in $(tags_of "$1"); do [ "$tag" = "release-$2" ] || untag "$tag"; done
}

# forget_oldest: removes the releases above MAX_RELEASES, but never the running one.
forget_oldest() {
  releases | tail -n "+$((MAX_RELEASES + 1))" | while read -r tag image; do
    [ "$image" = "$new_image" ] || untag "$tag"
  done
}
