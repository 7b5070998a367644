#!/bin/sh
# The running stack on one screen: containers, release, certificate, envelopes of the last five minutes, what waits in the spool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/lib.sh"
. "$here/settings.sh"
. "$here/facts.sh"
cd "$root"

need_stack
facts | in_stack status.ts
