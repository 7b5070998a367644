#!/bin/sh
# Finds out which deployment each of WEB_PREVIOUS_UPSTREAMS runs, if any, and keeps a file named after it in /tmp/nginx/previous, by which
# templates/previous/route.conf chooses where a request goes. Next 16 names its deploymentId in the response to RSC: 1; `make up` writes the file, too.
set -eu

# deployment_at ADDRESS: prints the deploymentId of what answers there, if it says so; fails without an answer.
deployment_at() {
  curl -s -m 4 -o /dev/null -H 'RSC: 1' -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    -w '%header{x-nextjs-deployment-id}' "http://$1$BASE_PATH/.culvert" | tr -cd 'A-Za-z0-9_-'
}

# is_current DEPLOYMENT: whether every replica of web has it. In Kubernetes both may be one release, and one pod must not serve all its pages.
is_current() {
  for address in $(getent ahosts "${WEB_UPSTREAM%:*}" | sed 's/ .*//; s/.*:.*/[&]/' | sort -u); do
    [ "$(deployment_at "$address:${WEB_UPSTREAM##*:}")" = "$1" ] || return
  done
}

# look FOLDER UPSTREAM: FOLDER/.ends, if make up has written it, says until when.
look() {
  # The dot: without the search domains of this host.
  if [ -z "$(getent ahosts "${2%:*}.")" ]; then rm -f "$1"/* "$1/.ends"; return; fi
  if [ "$(cat "$1/.ends" 2>/dev/null || echo 9999999999)" -le "$(date +%s)" ]; then rm -f "$1"/*; return; fi
  deployment=$(deployment_at "$2")
  [ -n "$deployment" ] || return
  if is_current "$deployment"; then
    # Not at once: make up writes the file before the next release begins to replace this one.
    find "$1" -name "$deployment" -mmin +2 -delete
    return
  fi
  find "$1" -type f ! -name "$deployment" ! -name .ends -delete
  [ -e "$1/$deployment" ] || : >"$1/$deployment"
}

watch() {
  set +e
  while sleep 5; do
    slot=0
    for upstream in $WEB_PREVIOUS_UPSTREAMS; do
      slot=$((slot + 1))
      look "/tmp/nginx/previous/$slot" "$upstream"
    done
  done
}
watch &
