#!/bin/sh
# Lists the releases of web that rollback.sh can put back, the last deployed first, and which one runs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
. "$here/lib.sh"
. "$here/rolling.sh"
. "$here/release-list.sh"

# show TAG IMAGE: prints one line.
show() {
  docker image inspect --format '{{.Created}} {{.Size}}' "$2" | {
    read -r created size
    name=$(name_of "$2")
    mark=
    [ "$2" != "$old_image" ] || mark='  running'
    printf '%-25s  %-24s  %.10s %.5s  %4d MB%s\n' "$1" "${name:--}" "$created" "${created#*T}" $((size / 1000000)) "$mark"
  }
}

find_running
printf '%-25s  %-24s  %-16s  %7s\n' TAG RELEASE 'BUILT (UTC)' SIZE
[ -n "$(tags_of "$old_image")" ] || show - "$old_image"
releases | while read -r tag image; do show "$tag" "$image"; done
