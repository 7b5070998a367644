#!/bin/sh
# Dies if the stack runs with a setting that neither this shell nor .env has now: it was typed for one start, and the containers that
# replace the running ones would have its default.
set -eu
cd "$(dirname "$0")/../.."
. deploy/host/lib.sh
. deploy/doctor/facts.sh

need_stack
setting_facts | in_stack same-settings.ts
