# shellcheck shell=sh
# Sourced by the steps.

# refuse SETTING PROBLEM FIX: ends the container with the one line that an operator needs, as its last log line.
refuse() {
  printf 'culvert proxy: %s %s: %s\n' "$1" "$2" "$3" >&2
  exit 1
}
