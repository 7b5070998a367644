# shellcheck shell=sh disable=SC2154
# The types of settings.sh. Each takes a setting's name and default, and ends the container if the value is none of its type.

# one_line TEXT: safe for a log: white space becomes spaces, anything but printable ASCII a question mark.
one_line() { printf '%s' "$1" | LC_ALL=C tr '\t\n\v\f\r' '     ' | LC_ALL=C tr -c '\040-\176' '?' | cut -c 1-300; }

# refuse SETTING PROBLEM FIX: ends the container with a one-line error, the last line of its log.
refuse() {
  printf 'culvert proxy: %s %s: %s\n' "$1" "$(one_line "$2")" "$3" >&2
  exit 1
}

# default SETTING VALUE: sets the setting to VALUE if it is empty, and `value` to what it is then.
default() { eval ": \"\${$1:=\$2}\"; value=\$$1"; }
is_default() {
  default "$1" "$2"
  [ "$value" = "$2" ]
}

# duration, size, port, upstream: SETTING DEFAULT [FIX]
duration() {
  is_default "$1" "$2" || is_time "$value" || refuse "$1" "'$value' is not a time" "use a number and a unit (s, m, h, d, w), such as $2"
}
size() {
  is_default "$1" "$2" || is_size "$value" || refuse "$1" "'$value' is not a size" "use a number and a unit (k, m, g), such as $2"
}
port() {
  is_default "$1" "$2" || is_port "$value" || refuse "$1" "'$value' is not a port" "use a number from 1 to 65535, such as $2"
}
upstream() {
  is_default "$1" "$2" || is_host_and_port "$value" || refuse "$1" "'$value' is not name:port" "$3"
}
# switch SETTING
switch() {
  is_default "$1" off || is "$value" 'on|off' || refuse "$1" "'$value' is neither on nor off" "use on or off"
}
# choice SETTING DEFAULT KIND OTHER LAST
choice() {
  is_default "$1" "$2" || is "$value" "$2|$4|$5" || refuse "$1" "'$value' is not a $3" "use $2, $4 or $5"
}
# number SETTING DEFAULT MIN MAX UNIT
number() {
  is_default "$1" "$2" || is_number "$value" "$3" "$4" || refuse "$1" "'$value' is not a number of $5" "use a whole number from $3 to $4"
}
# limit SETTING DEFAULT MAX UNIT: a number from 1, or `off`.
limit() {
  is_default "$1" "$2" || [ "$value" = off ] || is_number "$value" 1 "$3" ||
    refuse "$1" "'$value' is not a number of $4" "use a whole number from 1 to $3, or off"
}
# path SETTING DEFAULT FIX: a path of the app that is valid in a location, as it is or in a pattern.
path() {
  default "$1" "$2"
  case $value/ in /_next/*) refuse "$1" "'$value' belongs to Next.js" "$3" ;; esac
  [ "$value" = "$2" ] || { is "$value" '(/[A-Za-z0-9_-]+)+' && [ "${#value}" -le 200 ]; } ||
    refuse "$1" "'$value' is not a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most" "$3"
}
# list SETTING DEFAULT FIX: entries that are separated by spaces only.
list() {
  default "$1" "$2"
  case $value in *[[:cntrl:]]*) refuse "$1" "has a control character" "$3" ;; esac
}
# file SETTING DEFAULT: a file's path that is valid in Nginx's configuration.
file() {
  is_default "$1" "$2" || is "$value" '/[A-Za-z0-9/._@+-]*' ||
    refuse "$1" "'$value' is not a whole path of A-Z a-z 0-9 / . _ @ + -" "mount the file under another name"
}
