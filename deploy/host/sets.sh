# shellcheck shell=sh disable=SC2154 # unchanged, services: stack.sh
# A set is the replicas of one release of web: their label is culvert.set, their name web-a or web-b (WEB_SET).
# A release starts the other set beside the one that serves, and asks both. Then the proxy asks the new set only, and
# all other containers of web stop.

# set_of SET: prints its containers. The set without a name has those without a label: an earlier version, or somebody
# by hand, has started them.
set_of() {
  if [ -n "$1" ]; then containers web --filter "label=culvert.set=$1"; else
    without "$(containers web --filter label=culvert.set)"
  fi
}
# others: prints the containers of web that are not of the current set.
others() { without "$(set_of "$WEB_SET")"; }
without() { containers web | grep -vxF -e "$1" || true; }
other_set() { if [ "$1" = a ]; then echo b; else echo a; fi; }

# current_set: prints the set that serves: the one that the proxy was told to ask, else the one without a name, else the
# one of .env, if it runs.
current_set() {
  told=$(in_sets 'ls -d web-?.current' | sed 's/web-\(.\).*/\1/' | tail -n 1)
  saved=$(unset WEB_SET; setting WEB_SET a) running=$(alive web)
  for set in $told '' "$saved" "$(other_set "$saved")"; do
    ! set_of "$set" | grep -qxF -e "$running" || { echo "$set"; return; }
  done
  echo "$saved"
}

# save_release: so that `docker compose up`, typed by hand, finds web as it runs.
save_release() {
  save WEB_SET "$WEB_SET"
  save WEB_RELEASE "$WEB_RELEASE"
}

# replicas: prints how many the current set has, with those that `docker compose up --scale` has added.
replicas() { set_of "$WEB_SET" | count | sed 's/^0$/1/'; }

# in_sets SCRIPT [ARGUMENT...]: runs it in the proxy's folder of sets (proxy/entrypoint.d/sets.sh).
in_sets() {
  script="cd /var/lib/culvert/sets; $1"
  shift
  docker compose exec -T proxy sh -euc "$script" sh "$@" 2>/dev/null
}

# ask_only SET [SECONDS]: from now on, or for so long, the proxy asks only the replicas of this set. Without a name, it
# asks all.
ask_only() {
  # shellcheck disable=SC2016 # the container's
  in_sets '[ -z "$1" ] || { echo $(($(date +%s) + ${2:-999999999})) >new; mv new "web-$1.current"; }
    find . -name "*.current" ! -name "web-$1.current" -delete' "$@"
}

# start_set: starts the wanted release as the other set, which is WEB_SET from then on. Dies if it is not healthy, or
# answers the proxy worse than the set that serves.
start_set() {
  wanted=$(replicas)
  docker compose --progress quiet rm --force web >/dev/null 2>&1 || true
  # `web` is both sets now. A set without a name has no other one.
  [ -z "$WEB_SET" ] || ask_only "$WEB_SET" || die "proxy: it could not be told which release to ask; $unchanged"
  WEB_SET=$(other_set "$WEB_SET")
  docker compose --progress quiet up --detach --no-build --no-recreate \
    --scale "web=$(($(alive web | count) + wanted))" web >&2 || die "web: the reason is above; $unchanged"
  # shellcheck disable=SC2046 # a list
  problem=$(wait_until_healthy $(set_of "$WEB_SET") && answer_proxy $(set_of "$WEB_SET")) ||
    die "web: $problem; $unchanged"
  say_replaced "$(set_of "$WEB_SET" | head -n 1)"
}

# switch_set: the proxy asks the started set only, and all others stop.
switch_set() {
  replaced=$(others | head -n 1)
  [ "$(image_of "$replaced")" = "$(newest_image)" ] || keep_release "$replaced"
  store_files "$replaced"
  save_release
  ask_only "$WEB_SET" || die "proxy: it could not be told which release to ask; $unchanged"
  stop_others 20
}

# stop_others SECONDS: stops what the proxy does not ask any more, when its requests have ended. An app that gets
# SIGTERM goes on with connections that the proxy uses, and resets idle ones with the form in them.
stop_others() {
  unused=$(others)
  if [ -n "$unused" ]; then
    drain
    # shellcheck disable=SC2086 # a list
    { docker stop -t "$1" $unused; docker rm --force $unused; } >/dev/null || true
  fi
  # `valid` and `resolver_timeout` of proxy/templates/resolver.conf: until then, the proxy still has their addresses.
  ask_only "$WEB_SET" 7 || true
}

# drain: gives a busy app the time to read what was sent before the proxy stopped asking it.
drain() { sleep 2; }

# answer_proxy CONTAINER...: prints which of these does not answer the proxy, or which path of the first one answers
# worse than that of the other set. Of the same image only the health check is compared: settings such as CONSOLE decide
# what its start page is.
answer_proxy() {
  paths=$(setting BASE_PATH)$(setting HEALTH_PATH /healthz) serving=$(others | head -n 1)
  for container; do
    status=$(status_of "$container" "$paths" 60)
    case $status in [1-4]??) continue ;; esac
    echo "the proxy got status $status from the new container at $(inner_address "$container")"
    return 1
  done
  [ -n "$serving" ] && [ "${ALLOW_CHANGED_ANSWERS:-}" != on ] || return 0
  [ "$(image_of "$serving")" = "$(image_of "$1")" ] || paths="$paths $(setting BASE_PATH /)"
  for path in $paths; do
    had=$(status_of "$serving" "$path" 5)
    case $had in [123]??) status=$(status_of "$1" "$path" 15) ;; *) continue ;; esac
    case $status in [123]??) continue ;; esac
    echo "$path answers $status, and $had from what runs: if this is intended, set ALLOW_CHANGED_ANSWERS=on"
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
