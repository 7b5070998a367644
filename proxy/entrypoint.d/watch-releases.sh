#!/bin/sh
# Finds out which deployment each of WEB_PREVIOUS_UPSTREAMS and WEB_CURRENT_UPSTREAM runs, if any, and keeps a file
# named after it in /tmp/nginx/releases, by which templates/releases/route.conf chooses where a request goes. `make up`
# writes the file, too.
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

# look FOLDER UPSTREAM: FOLDER/.ends, if make up has written it, says until when.
look() {
  # The dot: without the search domains of this host.
  if [ -z "$(getent ahosts "${2%:*}.")" ]; then rm -f "$1"/* "$1"/.[!.]*; return; fi
  if [ "$(cat "$1/.ends" 2>/dev/null || echo 9999999999)" -le "$(date +%s)" ]; then rm -f "$1"/*; return; fi
  deployment=$(deployment_at "$2")
  [ -n "$deployment" ] || return
  find "$1" -type f ! -name "$deployment" ! -name ".$deployment" ! -name .ends -delete
  of_all=${of_all:-$(deployment_of_all)}
  if [ "$deployment" != "$of_all" ]; then
    [ -e "$1/$deployment" ] || : >"$1/$deployment"
  else
    # All replicas run this release. It keeps its name for two minutes, because a rollout may begin, which makes it the
    # previous release. Then web balances, with all replicas and their limits.
    [ -e "$1/.$deployment" ] || [ -e "$1/$deployment" ] || : >"$1/$deployment"
    : >"$1/.$deployment"
    find "$1" -name "$deployment" -mmin +2 -delete
  fi
}

# look_at_only: has all replicas of web asked again (templates/asked-replicas.conf) at the time in the file, or when
# none has the name.
look_at_only() {
  for file in /tmp/nginx/only/*; do
    [ -e "$file" ] || continue
    if [ -z "$(getent ahosts "${file##*/}.")" ] || [ "$(cat "$file")" -le "$(date +%s)" ]; then rm -f "$file"; fi
  done
}

watch() {
  set +e
  while sleep 5; do
    look_at_only
    slot=0 of_all=
    for upstream in $WEB_PREVIOUS_UPSTREAMS $WEB_CURRENT_UPSTREAM; do
      slot=$((slot + 1))
      look "/tmp/nginx/releases/$slot" "$upstream"
    done
  done
}
watch &
