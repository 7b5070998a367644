#!/bin/sh
# The running stack on one screen: containers, release, versions, certificate, envelopes of the last five minutes, what waits in the spool.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/doctor/facts.sh

need_stack
facts | in_stack status.ts
