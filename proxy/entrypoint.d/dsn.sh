# shellcheck shell=sh disable=SC2034
# For ingest.sh.

# read_dsn DSN: sets scheme, key, host, port (empty, or with a colon), prefix and project; fails if it is no DSN.
# {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}, https://develop.sentry.dev/sdk/foundations/client/dsn/
read_dsn() {
  case $1 in http://*@*/* | https://*@*/*) ;; *) return 1 ;; esac
  scheme=${1%%://*} authority=${1#*://}
  key=${authority%%@*} authority=${authority#*@}
  path=/${authority#*/} host=${authority%%/*}
  # The secret of a legacy DSN may follow the key.
  case $key in '' | :* | *[!A-Za-z0-9_:]* | *:*:*) return 1 ;; esac
  key=${key%%:*} port=''
  case $host in \[*\]) ;; *:*) port=:${host##*:} host=${host%:*} ;; esac
  is_host "$host" && { [ -z "$port" ] || is_port "${port#:}"; } || return 1
  project=${path##*/} prefix=${path%/*}
  case $project in '' | *[!0-9]* | ?????????????????????*) return 1 ;; esac
  case $prefix/ in *[!A-Za-z0-9/._-]* | *//* | */.*) return 1 ;; esac
}
