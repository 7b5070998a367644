#!/bin/sh
# Finds out which deployment each of WEB_SETS runs, if any, and keeps a file named after it (sets.sh).
set -eu

# deployment_at ADDRESS: prints the deploymentId of what answers there, if it says so: the package does, else Next 16 to
# RSC: 1.
deployment_at() {
  curl -s -m 4 -o /dev/null -H 'RSC: 1' -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    -w '%header{x-nextjs-deployment-id}' "http://$1$BASE_PATH/.culvert" | tr -cd 'A-Za-z0-9_-'
}

# deployment_of_all: prints the deploymentId that every replica of web has, ready or not; nothing while they differ.
deployment_of_all() {
  upstream=${WEB_FALLBACK_UPSTREAM:-$WEB_UPSTREAM} first=
  for address in $(getent ahosts "${upstream%:*}" | sed 's/ .*//; s/.*:.*/[&]/' | sort -u); do
    deployment=$(deployment_at "$address:${upstream##*:}")
    [ -n "$deployment" ] && [ "$deployment" = "${first:-$deployment}" ] || return 0
    first=$deployment
  done
  echo "$first"
}

# look NAME ADDRESS: NAME/.ends, if make up has written it, says until when.
look() {
  # The dot: without the search domains of this host.
  if [ -z "$(getent ahosts "$1.")" ]; then rm -f "$1.current" "$1"/* "$1"/.[!.]*; return; fi
  [ "$(cat "$1.current" 2>/dev/null || echo 9999999999)" -gt "$(date +%s)" ] || rm -f "$1.current"
  if [ "$(cat "$1/.ends" 2>/dev/null || echo 9999999999)" -le "$(date +%s)" ]; then rm -f "$1"/*; return; fi
  deployment=$(deployment_at "$2")
  [ -n "$deployment" ] || return
  find "$1" -type f ! -name "$deployment" ! -name ".$deployment" ! -name .ends -delete
  of_all=${of_all:-$(deployment_of_all)}
  if [ "$deployment" != "$of_all" ]; then
    [ -e "$1/$deployment" ] || : >"$1/$deployment"
  else
    # For two minutes, because in Kubernetes web's replacement may begin. Then web balances with all replicas.
    [ -e "$1/.$deployment" ] || [ -e "$1/$deployment" ] || : >"$1/$deployment"
    : >"$1/.$deployment"
    find "$1" -name "$deployment" -mmin +2 -delete
  fi
}

watch() {
  set +e
  cd /var/lib/culvert/sets || exit
  while :; do
    of_all=
    for address in $(echo "$WEB_SETS" | tr , ' '); do look "${address%:*}" "$address"; done
    sleep 5
  done
}
watch &
