# shellcheck shell=sh
# A set is the replicas of one release of web. Its containers have the label culvert.set, and the name web-a or web-b in
# the inner network (WEB_SET). A release starts the other set beside the one that serves, and asks both; then the proxy
# asks the new set only, and the old one stops. Sourced after stack.sh, releases.sh and previous.sh.

set_of() { containers web --filter "label=culvert.set=$1"; }
other_set() { if [ "$1" = a ]; then echo b; else echo a; fi; }

# current_set: prints the set that serves: the one that the proxy was told to ask, else that of .env, if it runs.
current_set() {
  told=$(in_proxy 'cd /tmp/nginx/sets && ls -d web-?.current' | sed 's/web-\(.\).*/\1/' | tail -n 1)
  saved=$(setting WEB_SET a)
  for set in $told "$saved" "$(other_set "$saved")"; do
    [ -z "$(alive web --filter "label=culvert.set=$set")" ] || { echo "$set"; return; }
  done
  echo "$saved"
}

# replicas: prints how many containers the current set has; those that `docker compose up --scale` has added belong to
# it.
replicas() {
  found=$(set_of "$WEB_SET" | count)
  # Containers of a version without sets.
  [ "$found" -gt 0 ] || found=$(containers web | count)
  if [ "$found" -gt 0 ]; then echo "$found"; else echo 1; fi
}

in_proxy() { docker compose exec -T proxy sh -euc "$@" 2>/dev/null; }

# ask_only SET SECONDS: for so long, the proxy asks only the replicas of this set (proxy/entrypoint.d/sets.sh).
ask_only() {
  # shellcheck disable=SC2016 # the container's
  in_proxy 'cd /tmp/nginx/sets; echo $(($(date +%s) + $2)) >new; mv new "web-$1.current"
    find . -name "*.current" ! -name "web-$1.current" -delete' sh "$@"
}

# start_set: starts the wanted release as the other set. If it is not healthy, or answers the proxy worse than the set
# that serves, it is removed, and this dies. Sets new_release to what release_of prints of it.
start_set() {
  wanted=$(replicas)
  docker compose --progress quiet rm --force web >/dev/null 2>&1 || true
  scale=web=$(($(alive web | count) + wanted))
  [ "$(set_of "$WEB_SET")" != "$(containers web)" ] || ask_only "$WEB_SET" 600 || true
  WEB_SET=$(other_set "$WEB_SET")
  started_set=$WEB_SET
  docker compose --progress quiet up --detach --no-build --no-recreate --scale "$scale" web >&2 ||
    die "web: the reason is above; $kept"
  new=$(set_of "$WEB_SET")
  # shellcheck disable=SC2086 # a list
  problem=$(wait_until_healthy $new && answer_proxy $new) || die "web: $problem; $kept"
  # shellcheck disable=SC2034 # for others
  new_release=$(release_of "$(echo "$new" | head -n 1)")
}
kept='nothing was replaced, what runs keeps serving'

# switch_set: the proxy asks the started set only. The old one stops when its requests have ended: until it is killed,
# an app that gets SIGTERM goes on with connections that the proxy uses, and it resets idle ones with the form in them.
switch_set() {
  old=$(containers web | without "$(set_of "$WEB_SET")")
  first=$(echo "$old" | head -n 1)
  [ "$(image_of "$first")" = "${new_release%% *}" ] ||
    keep_release "$first" || say "    open pages get the new release: the reason is above"
  store_files "$first"
  ask_only "$WEB_SET" 600 || true
  started_set=''
  save_set
  drain
  # shellcheck disable=SC2086 # a list
  { docker stop $old && docker rm $old; } >/dev/null || true
  # `valid` and `resolver_timeout` of proxy/templates/resolver.conf: until then, the proxy still has their addresses.
  ask_only "$WEB_SET" 7 || true
  end_previous "${new_release%% *}"
}

# save_set: so that `docker compose up`, typed by hand, leaves the set alone.
save_set() { [ "$(unset WEB_SET; setting WEB_SET a)" = "$WEB_SET" ] || write_setting WEB_SET "$WEB_SET"; }

# undo_set: removes a started set that has not been switched to.
undo_set() {
  [ -n "${started_set:-}" ] || return 0
  set_of "$started_set" | xargs -r docker rm --force >/dev/null 2>&1 || true
  in_proxy 'rm -f /tmp/nginx/sets/*.current' || true
}

# answer_proxy CONTAINER...: prints which of these does not answer the proxy, or which path of the first one answers
# worse than that of the set that serves. Of the same image only the health check is compared: settings such as CONSOLE
# decide what its start page is.
answer_proxy() {
  paths=$(health_path) serving=$(set_of "$(other_set "$WEB_SET")" | head -n 1)
  for container; do
    status=$(status_of "$container" "$paths" 60)
    case $status in [1-4]??) continue ;; esac
    echo "the proxy got status $status from the new container at $(inner_address "$container")"
    return 1
  done
  [ -n "$serving" ] && [ "${ALLOW_CHANGED_ANSWERS:-}" != on ] || return 0
  [ "$(image_of "$serving")" = "$(image_of "$1")" ] || paths="$paths $(setting BASE_PATH /)"
  for path in $paths; do
    before=$(status_of "$serving" "$path" 5)
    case $before in [123]??) status=$(status_of "$1" "$path" 15) ;; *) continue ;; esac
    case $status in [123]??) continue ;; esac
    echo "$path answers $status, and $before from what runs: if this is intended, set ALLOW_CHANGED_ANSWERS=on"
    return 1
  done
}

# status_of CONTAINER PATH SECONDS: prints what it answers the proxy there, as to a visitor. Tries for SECONDS.
status_of() {
  name=$(first_of "$(setting SERVER_NAME localhost)")
  docker compose exec -T proxy curl -s -m 5 -o /dev/null -w '%{http_code}' \
    --retry 60 --retry-delay 1 --retry-max-time "$3" \
    -H "Host: $name" -H "X-Forwarded-Host: $name" -H 'X-Forwarded-Proto: https' -H 'X-Request-Id: trial' \
    -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    "http://$(inner_address "$1"):3000$2" || true
}

# store_files CONTAINER: requests every hashed file of this release through the proxy, in each encoding, so that the
# proxy stores it for open pages. Of an app with its files elsewhere, only those that clients requested are stored.
store_files() {
  # One curl for all files: a process and a TLS handshake for each would take minutes on a busy machine.
  # shellcheck disable=SC2016 # the container's variables
  docker cp "$1:/app/.next/static" - 2>/dev/null | tar -t 2>/dev/null | docker compose exec -T proxy sh -c '
    urls=$(sed -e "/\/$/d" -e "s|%|%25|g; s| |%20|g; s|\[|%5B|g; s|\]|%5D|g" \
      -e "s|^|url = https://127.0.0.1:8443${BASE_PATH:-}/_next/|")
    [ -n "$urls" ] || exit 0
    [ "${PROXY_PROTOCOL:-off}" != on ] || set -- --haproxy-protocol
    for encoding in gzip identity; do
      printf "%s\n" "$urls" | curl -skg "$@" -H "Accept-Encoding: $encoding" -K - >/dev/null || exit
    done' || say "    not all files of the replaced release could be stored; those that clients have requested are"
}
