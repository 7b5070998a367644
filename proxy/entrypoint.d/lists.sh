# shellcheck shell=sh
# Sourced by the steps.

# split VALUE: sets `entries` to the entries of a list, separated by spaces only.
split() {
  entries=$1
  while :; do
    case $entries in
      *,*) entries="${entries%%,*} ${entries#*,}" ;;
      *) return ;;
    esac
  done
}
