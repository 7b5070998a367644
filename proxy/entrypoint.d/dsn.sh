# shellcheck shell=sh disable=SC2034
# For ingest.sh.

# read_dsn DSN: sets scheme, key, host, port (empty, or with a colon), prefix and project; fails if it is no DSN. The secret of a legacy DSN
# may follow the key. {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}, https://develop.sentry.dev/sdk/foundations/client/dsn/
read_dsn() {
  is "$1" 'https?://[A-Za-z0-9_]+(:[A-Za-z0-9_]*)?@[^@/]+(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/[0-9]{1,20}' || return 1
  scheme=${1%%://*} key=${1#*://} host=${1#*@}
  key=${key%%[:@]*} path=/${host#*/} host=${host%%/*} port=''
  case $host in \[*\]) ;; *:*) port=:${host##*:} host=${host%:*} ;; esac
  project=${path##*/} prefix=${path%/*}
  is_host "$host" && { [ -z "$port" ] || is_port "${port#:}"; }
}
