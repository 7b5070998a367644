# shellcheck shell=sh
# One function for each kind of value. Each compares the whole value: grep and sed would accept a value if one of its lines is valid, and
# write the others into the configuration. A body with variables is a subshell.

# A range such as A-Z means bytes.
LC_ALL=C

# is_number VALUE MIN MAX: a whole number without a sign or leading zeros.
is_number() {
  case $1 in '' | *[!0-9]* | 0?* | ??????????*) return 1 ;; esac
  [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
}

is_port() { is_number "$1" 1 65535; }

# is_time VALUE: a number and one of Nginx's units. https://nginx.org/en/docs/syntax.html
is_time() {
  case $1 in
    *[smhdw]) is_number "${1%?}" 1 99999 ;;
    *) return 1 ;;
  esac
}

# is_size VALUE: a number of bytes, or with k, m or g. https://nginx.org/en/docs/syntax.html
is_size() {
  case $1 in
    *[kmg]) is_number "${1%?}" 1 99999 ;;
    *) is_number "$1" 1 999999999 ;;
  esac
}

# is_ipv4 VALUE: four octets in decimal; no octal, no hexadecimal, no fewer.
is_ipv4() (
  case $1 in *[!0-9.]* | *.*.*.*.*) return 1 ;; *.*.*.*) ;; *) return 1 ;; esac
  rest=$1.
  while [ -n "$rest" ]; do
    is_number "${rest%%.*}" 0 255 || return 1
    rest=${rest#*.}
  done
)

# is_ipv6 VALUE: without brackets or zone. https://www.rfc-editor.org/rfc/rfc4291#section-2.2; `::` replaces two groups or more, as
# RFC 5952 (4.2.2) recommends and Nginx requires.
is_ipv6() (
  groups=$1
  case $groups in
    *.*)
      # The last 32 bits may be written as IPv4.
      is_ipv4 "${groups##*:}" || return 1
      groups=${groups%:*}:0:0
      ;;
  esac
  case $groups in *[!0-9A-Fa-f:]* | *:::* | *::*::* | :[!:]* | *[!:]:) return 1 ;; *:*) ;; *) return 1 ;; esac
  size=0
  IFS=:
  for group in $groups; do
    case $group in '') ;; ?????*) return 1 ;; *) size=$((size + 1)) ;; esac
  done
  case $groups in
    *::*) [ "$size" -le 6 ] ;;
    *) [ "$size" -eq 8 ] ;;
  esac
)

# is_name VALUE: a DNS name; with underscores, which Docker's have. A name that ends in a number is an address, or invalid:
# https://url.spec.whatwg.org/#ends-in-a-number-checker
is_name() (
  case $1 in '' | _ | *[!A-Za-z0-9._-]* | .* | *. | *..* | -* | *- | *.-* | *-.*) return 1 ;; esac
  [ "${#1}" -le 253 ] || return 1
  IFS=.
  for label in $1; do
    [ "${#label}" -le 63 ] || return 1
  done
  case ${1##*.} in
    0[Xx]*[!0-9A-Fa-f]*) ;;
    0[Xx]*) return 1 ;;
    *[!0-9]*) ;;
    *) return 1 ;;
  esac
)

# is_host VALUE: a name, an IPv4 address, or an IPv6 address in brackets.
is_host() {
  case $1 in
    \[*\]) set -- "${1#\[}" && is_ipv6 "${1%\]}" ;;
    *) is_ipv4 "$1" || is_name "$1" ;;
  esac
}

is_host_and_port() {
  case $1 in
    *:*) is_host "${1%:*}" && is_port "${1##*:}" ;;
    *) return 1 ;;
  esac
}

# is_network VALUE: an address, or one with a prefix length.
is_network() {
  case $1 in
    */*) { is_ipv4 "${1%/*}" && is_number "${1##*/}" 0 32; } || { is_ipv6 "${1%/*}" && is_number "${1##*/}" 0 128; } ;;
    *) is_ipv4 "$1" || is_ipv6 "$1" ;;
  esac
}

# without_commas VALUE: the entries of a list, separated by spaces.
without_commas() { printf '%s' "$1" | tr , ' '; }
