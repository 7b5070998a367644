#!/bin/sh
# kustomize.sh: prints the command that renders a folder, to be run in the repository's root: from PATH, else kustomize
# of Debian 13, unpacked to .culvert and not installed. Exits with one line and status 1 if neither is available.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
cd "$here/../.."
# Relative: the path of the repository may have spaces.
bin=.culvert/bin

# renders COMMAND SUBCOMMAND: whether the command exists and is new enough to render this layout.
renders() { has "$1" && "$1" "$2" deploy/kubernetes/overlays/production >/dev/null 2>&1; }

for command in "kubectl kustomize" "kustomize build" "$bin/kustomize build"; do
  if renders "${command% *}" "${command##* }"; then echo "$command"; exit 0; fi
done
deploy/bare-machine/unpack.sh kustomize usr/bin/kustomize "$bin" 2>/dev/null || true
if renders "$bin/kustomize" build; then echo "$bin/kustomize build"; exit 0; fi
die "kubectl: not found, or older than 1.31: install it (https://kubernetes.io/docs/tasks/tools/), or kustomize 5.3" \
  "or newer"
