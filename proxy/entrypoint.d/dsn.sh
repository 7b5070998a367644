# shellcheck shell=sh
# Sourced by 30-ingest.sh, after checks.sh. Proxy, spool, web and loadtest share no code, so there are four parsers:
# deploy/test/vectors/dsn.json tests that they agree.

# read_dsn DSN: sets scheme, key, host, number (of the port, or empty), prefix and project; fails if it is no DSN.
# {scheme}://{key}[:{secret}]@{host}[:{port}][{/prefix}]/{project}, https://develop.sentry.dev/sdk/foundations/client/dsn/
read_dsn() {
  [ "${#1}" -le 1000 ] || return 1
  case $1 in http://*@*/* | https://*@*/*) ;; *) return 1 ;; esac
  # shellcheck disable=SC2034 # for 30-ingest.sh
  scheme=${1%%://*}
  authority=${1#*://}
  key=${authority%%@*}
  path=/${authority#*/}
  authority=${authority%%/*}
  authority=${authority#*@}
  # The secret of a legacy DSN may follow the key.
  case $key in '' | :* | *[!A-Za-z0-9_:]* | *:*:*) return 1 ;; esac
  key=${key%%:*}
  case $authority in
    \[*\]) host=$authority number='' ;;
    *:*)
      host=${authority%:*} number=${authority##*:}
      is_port "$number" || return 1
      ;;
    *) host=$authority number='' ;;
  esac
  is_host "$host" || return 1
  project=${path##*/}
  prefix=${path%/*}
  case $project in '' | *[!0-9]* | ?????????????????????*) return 1 ;; esac
  case $prefix/ in *[!A-Za-z0-9/._-]* | *//* | */./* | */../*) return 1 ;; esac
}
