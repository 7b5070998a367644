# shellcheck shell=sh disable=SC2154
# How settings.sh reads a setting, and a function for each kind of value.

# A range such as A-Z means bytes.
LC_ALL=C

# one_line TEXT: safe for a log: white space becomes spaces, anything but printable ASCII a question mark.
one_line() { printf '%s' "$1" | tr '\t\n\v\f\r' '     ' | tr -c '\040-\176' '?' | cut -c 1-300; }

# refuse SETTING PROBLEM FIX: ends the container with a one-line error, the last line of its log.
refuse() {
  printf 'culvert proxy: %s %s: %s\n' "$1" "$(one_line "$2")" "$3" >&2
  exit 1
}

# setting NAME DEFAULT TYPE [ARGUMENT...]: sets an empty setting to DEFAULT, and refuses other values that are no TYPE.
setting() {
  name=$1 default=$2 type=$3
  eval ": \"\${$1:=\$2}\"; value=\$$1"
  [ "$value" != "$default" ] || return 0
  shift 3
  case $type in
    list) is_line "$value" || invalid 'a line without \ " ; { } $' "$1" ;;
    path) is_path "$value" ||
      invalid 'a path of A-Z a-z 0-9 _ - between slashes, of 200 characters at most, outside /_next' "$1" ;;
    file) is "$value" '/[A-Za-z0-9/._@+-]*' ||
      invalid 'a whole path of A-Z a-z 0-9 / . _ @ + -' 'mount the file under another name' ;;
    upstream) is_host_and_port "$value" || invalid name:port "$1" ;;
    port) is_port "$value" || invalid 'a port' "use a number from 1 to 65535, such as $default" ;;
    # A number and one of Nginx's units; a size may be a number of bytes. https://nginx.org/en/docs/syntax.html
    size) is "$value" '[1-9][0-9]{0,4}[kmg]|[1-9][0-9]{0,8}' ||
      invalid 'a size' "use a number and a unit (k, m, g), such as $default" ;;
    duration) is "$value" '[1-9][0-9]{0,4}[smhdw]' ||
      invalid 'a time' "use a number and a unit (s, m, h, d, w), such as $default" ;;
    choice) is "$value" "$2" || invalid "a $1" "use $(echo "$2" | sed 's/|/ or /g')" ;;
    number) is_number "$value" "$2" "$3" || invalid "a number of $1" "use a whole number from $2 to $3" ;;
    limit) [ "$value" = off ] || is_number "$value" "$2" "$3" ||
      invalid "a number of $1" "use a whole number from $2 to $3, or off" ;;
  esac
}
invalid() { refuse "$name" "'$value' is not $1" "$2"; }

# is VALUE PATTERN: compares the whole value, which grep would do line by line.
is() {
  case $1 in *[[:cntrl:]]*) return 1 ;; esac
  grep -qxE -e "$2" <<VALUE
$1
VALUE
}

# is_number VALUE MIN MAX: a whole number without a sign or leading zeros.
is_number() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
  [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}
is_port() { is_number "$1" 1 65535; }

# A path of the app that is valid in a location, as it is or in a pattern.
is_path() { is "$1" '(/[A-Za-z0-9_-]+)+' && [ "${#1}" -le 200 ] && ! is "$1" '/_next(/.*)?'; }
# A list, without characters that can end a string, a directive or a line of Nginx, or begin a variable. Its entries
# have checks of their own.
is_line() { case $1 in *[[:cntrl:]\"\;\{\}\$\\]*) return 1 ;; esac }

# Four octets in decimal; no octal, no hexadecimal, no fewer.
octet='(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])'
is_ipv4() {
  # Without a process for names.
  case $1 in *[!0-9.]*) return 1 ;; esac
  is "$1" "$octet(\.$octet){3}"
}

# is_ipv6 VALUE: without brackets or zone; `::` replaces two groups or more, as Nginx requires.
group='[0-9A-Fa-f]{1,4}'
is_ipv6() (
  address=$1
  # The last 32 bits may be written as IPv4.
  case $address in *.*) is_ipv4 "${address##*:}" && address=${address%:*}:0:0 || return 1 ;; esac
  is "$address" "$group(:$group){7}" || {
    is "$address" "($group(:$group)*)?::($group(:$group)*)?" &&
      [ "$(echo "$address" | grep -oE "$group" | wc -l)" -le 6 ]
  }
)

# is_name VALUE: a DNS name, also with underscores. One that ends in a number is an address, or invalid.
label='[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?'
is_name() {
  case ${1##*.} in 0[Xx]*[!0-9A-Fa-f]*) ;; 0[Xx]*) return 1 ;; *[!0-9]*) ;; *) return 1 ;; esac
  [ "${#1}" -le 253 ] && [ "$1" != _ ] && is "$1" "($label\.)*$label"
}

is_host() {
  case $1 in
    \[*\]) set -- "${1#\[}" && is_ipv6 "${1%\]}" ;;
    *) is_ipv4 "$1" || is_name "$1" ;;
  esac
}
is_host_and_port() { [ "$1" != "${1%:*}" ] && is_host "${1%:*}" && is_port "${1##*:}"; }

is_network() {
  case $1 in
    */*) { is_ipv4 "${1%/*}" && is_number "${1##*/}" 0 32; } || { is_ipv6 "${1%/*}" && is_number "${1##*/}" 0 128; } ;;
    *) is_ipv4 "$1" || is_ipv6 "$1" ;;
  esac
}

without_commas() { printf '%s' "$1" | tr , ' '; }
