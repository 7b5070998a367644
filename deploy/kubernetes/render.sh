#!/bin/sh
# render.sh OVERLAY: writes all objects of the overlay to one file, and prints its path.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"

overlays=$(cd "$here/overlays" && echo *)
[ -n "${1:-}" ] || die "OVERLAY: not set: use one of $overlays, such as OVERLAY=production"
[ -e "$here/overlays/$1/kustomization.yaml" ] || die "OVERLAY: there is no '$1': use one of $overlays"

kustomize=$(sh "$here/kustomize.sh")
file=.culvert/$1.yaml
cd "$here/../.."
mkdir -p .culvert
# shellcheck disable=SC2086 # a command and its subcommand
$kustomize "deploy/kubernetes/overlays/$1" >"$file"
echo "$file"
