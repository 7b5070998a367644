#!/bin/sh
# forget-files.sh PATH...: removes stored files, so that the next request fetches them from web again. PATH is a file's path as the
# browser asks for it, without its query: docker compose exec proxy sh /culvert/forget-files.sh /_next/static/chunks/main-1a2b3c4d.js
set -eu

for path; do
  # Paths are stored decoded (/app/[slug]/) and requested encoded (/app/%5Bslug%5D/). The shell's own printf has no \x.
  decoded=$(/usr/bin/printf %b "$(printf %s "$path" | sed 's/\\/\\\\/g; s/%\([2-9A-Fa-f][0-9A-Fa-f]\)/\\x\1/g')")
  # The key is a line of its own at the head of each file.
  files=$(grep -rlaF -m 1 "KEY: $decoded " /var/lib/culvert/static || true)
  echo "$files" | xargs -r rm -f
  echo "culvert: $path: removed $(echo "$files" | grep -c .)"
done
