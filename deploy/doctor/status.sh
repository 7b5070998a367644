#!/bin/sh
# The running stack on one screen: containers, release, versions, certificate, envelopes of the last five minutes, what waits in the spool.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
. deploy/host/lib.sh
[ ! -e deploy/host/settings.sh ] || . deploy/host/settings.sh
. deploy/doctor/facts.sh

need_stack
facts | in_stack status.ts
