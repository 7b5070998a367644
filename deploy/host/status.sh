#!/bin/sh
# The running stack on one screen: containers, release, certificate, envelopes of the last five minutes, what waits in the spool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/facts.sh"
cd "$here/../.."

need_stack
facts | in_stack status.ts
