# shellcheck shell=sh
# Sourced by the steps.

# one_line TEXT: safe for a log: white space becomes spaces, anything but printable ASCII a question mark.
one_line() { printf '%s' "$1" | LC_ALL=C tr '\t\n\v\f\r' '     ' | LC_ALL=C tr -c '\040-\176' '?' | cut -c 1-300; }

# refuse SETTING PROBLEM FIX: ends the container with a one-line error, the last line of its log.
refuse() {
  printf 'culvert proxy: %s %s: %s\n' "$1" "$(one_line "$2")" "$3" >&2
  exit 1
}
