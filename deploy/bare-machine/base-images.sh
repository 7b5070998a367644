#!/bin/sh
# Prints the base images of the Dockerfiles, one per line, each once. Their versions are in the FROM lines alone.
# Usage: base-images.sh [DOCKERFILE...]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -gt 0 ] || set -- "$root/web/Dockerfile" "$root/proxy/Dockerfile" "$root/proxy/spool/Dockerfile" \
  "$root/deploy/ingest/Dockerfile"

for file in "$@"; do
  [ -r "$file" ] || continue
  awk '
    toupper($1) != "FROM" { next }
    {
      image = ""; stage = ""
      for (i = 2; i <= NF; i++) {
        if ($i ~ /^--/) continue
        if (toupper($i) == "AS") { stage = $(i + 1); break }
        if (image == "") image = $i
      }
      # A stage of this file, scratch or a build argument is not an image to fetch.
      if (!(image in stages) && image != "scratch" && image !~ /\$/) print image
      if (stage != "") stages[stage] = 1
    }' "$file"
done | sort -u
