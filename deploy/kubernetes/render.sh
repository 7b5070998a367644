#!/bin/sh
# render.sh VALUES: writes all objects to one file, without hooks, and prints its path. VALUES is a file; NAME (default:
# culvert) names the release.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"

values=${1:-}
[ -r "$values" ] || values=$here/${1:-}
[ -f "$values" ] || die "VALUES: there is no '${1:-}': use a file such as values/production.yaml"
helm=$(sh "$here/helm.sh")
folder=$(cd "$here/../.." && pwd)/.culvert
mkdir -p "$folder"
file=$folder/$(basename "$values")
"$helm" template "${NAME:-culvert}" "$here" --values "$values" --set test.enabled=false >"$file"
echo "$file"
