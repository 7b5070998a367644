# shellcheck shell=sh disable=SC2154
# How settings.sh reads a setting.

# one_line TEXT: safe for a log: white space becomes spaces, anything but printable ASCII a question mark.
one_line() { printf '%s' "$1" | LC_ALL=C tr '\t\n\v\f\r' '     ' | LC_ALL=C tr -c '\040-\176' '?' | cut -c 1-300; }

# refuse SETTING PROBLEM FIX: ends the container with a one-line error, the last line of its log.
refuse() {
  printf 'culvert proxy: %s %s: %s\n' "$1" "$(one_line "$2")" "$3" >&2
  exit 1
}

# setting NAME DEFAULT [KIND FIX CHECK...]: sets an empty setting to DEFAULT. Refuses any other value that is no KIND: for which the command
# CHECK VALUE fails (values.sh; `is` has the pattern after the value).
setting() {
  name=$1 default=$2 kind=${3:-} fix=${4:-}
  eval ": \"\${$1:=\$2}\"; value=\$$1"
  [ "$value" != "$default" ] && [ -n "$kind" ] || return 0
  shift 4
  check=$1
  shift
  "$check" "$value" "$@" || refuse "$name" "'$value' is not $kind" "$fix"
}
