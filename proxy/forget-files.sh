#!/bin/sh
# forget-files.sh PATH...: removes stored files, so that the next request fetches them from web again. PATH is a file's path as the
# browser asks for it, without its query (/_next/static/chunks/main-1a2b3c4d.js), /_next/image for all resized images, or the beginning
# of paths with a * at its end.
#     docker compose exec proxy sh /culvert/forget-files.sh /_next/static/chunks/main-1a2b3c4d.js
set -eu
store=/var/lib/culvert

[ $# -gt 0 ] || { echo "culvert: forget-files.sh: names no path: give one, such as /_next/static/chunks/main-1a2b3c4d.js" >&2; exit 1; }

# Paths are stored decoded (/app/[slug]/) and requested encoded (/app/%5Bslug%5D/). The shell's own printf has no \x.
decoded() { /usr/bin/printf %b "$(printf %s "$1" | sed 's/\\/\\\\/g; s/%\([2-9A-Fa-f][0-9A-Fa-f]\)/\\x\1/g')"; }

for path in "$@"; do
  case $path in
    *\**) key="KEY: $(decoded "${path%%\**}")" ;;
    *) key="KEY: $(decoded "$path") " ;;
  esac
  # The key is a line of its own at the head of each file.
  files=$(grep -rlaF -m 1 "$key" "$store/static" "$store/images" 2>/dev/null || true)
  count=0
  for file in $files; do
    rm -f "$file"
    count=$((count + 1))
  done
  echo "culvert: $path: removed $count"
done
