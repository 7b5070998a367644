#!/bin/sh
# render.sh OVERLAY: writes everything that the overlay deploys into one file, and prints the file's name.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"

known=$(cd "$here/overlays" && echo *)
[ -n "${1:-}" ] || die "OVERLAY: not set: one of $known, such as OVERLAY=production"
[ -e "$here/overlays/$1/kustomization.yaml" ] || die "OVERLAY: there is no '$1': use one of $known"

kustomize=$(sh "$here/kustomize.sh")
file=.culvert/$1.yaml
cd "$here/../.."
mkdir -p .culvert
# shellcheck disable=SC2086 # a command and its word
$kustomize "deploy/kubernetes/overlays/$1" >"$file"
echo "$file"
