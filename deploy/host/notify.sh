#!/bin/sh
# Usage: notify.sh TEXT. Posts it to NOTIFY_URL, if that is set, as JSON {"text": "..."}, as Slack, Mattermost and
# Google Chat read it. Never fails.
set -eu
cd "$(dirname "$0")/../.."
. deploy/lib.sh

url=$(setting NOTIFY_URL)
[ -n "$url" ] || exit 0
text=$(printf 'culvert on %s: %s' "$(hostname)" "$*" | LC_ALL=C tr -s '\000-\037' ' ' | sed 's/[\\"]/\\&/g')
# The address is a secret: not an argument, which other users of this machine can read.
printf 'url = "%s"\n' "$url" | curl -sS -m 10 -o /dev/null --fail -K - \
  -H 'Content-Type: application/json' --data "{\"text\": \"$text\"}" >&2 ||
  say "culvert: NOTIFY_URL: the notification was not accepted: the reason is above"
