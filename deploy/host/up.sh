#!/bin/sh
# From a clone to a running stack, on a bare machine too. Each step is a script that also runs alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/prepare.sh"

step 'Build and start' "$here/start.sh"
"$here/summary.sh"
