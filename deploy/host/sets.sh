# shellcheck shell=sh disable=SC2154 # unchanged, services: stack.sh
# A set is the replicas of one release of web: their label is culvert.set, their name web-a or web-b (WEB_SET).
# A release starts the other set beside the one that serves, and asks both. Then the proxy asks the new set only, and
# the old one stops.

set_of() { containers web --filter "label=culvert.set=$1"; }
other_set() { if [ "$1" = a ]; then echo b; else echo a; fi; }

# current_set: prints the set that serves: the one that the proxy was told to ask, else that of .env, if it runs.
current_set() {
  told=$(in_sets 'ls -d web-?.current' | sed 's/web-\(.\).*/\1/' | tail -n 1)
  saved=$(saved_set)
  for set in $told "$saved" "$(other_set "$saved")"; do
    [ -z "$(alive web --filter "label=culvert.set=$set")" ] || { echo "$set"; return; }
  done
  echo "$saved"
}
saved_set() (unset WEB_SET; setting WEB_SET a)
# save_set: so that `docker compose up`, typed by hand, leaves the set alone.
save_set() { [ "$(saved_set)" = "$WEB_SET" ] || write_setting WEB_SET "$WEB_SET"; }

# replicas: prints how many the current set has, with those that `docker compose up --scale` has added.
replicas() { set_of "$WEB_SET" | count | sed 's/^0$/1/'; }

# in_sets SCRIPT [ARGUMENT...]: runs it in the proxy's folder of sets (proxy/entrypoint.d/sets.sh).
in_sets() {
  script="cd /var/lib/culvert/sets; $1"
  shift
  docker compose exec -T proxy sh -euc "$script" sh "$@" 2>/dev/null
}

# ask_only SET [SECONDS]: from now on, or for so long, the proxy asks only the replicas of this set.
ask_only() {
  # shellcheck disable=SC2016 # the container's
  in_sets 'echo $(($(date +%s) + ${2:-999999999})) >new; mv new "web-$1.current"
    find . -name "*.current" ! -name "web-$1.current" -delete' "$@"
}

# start_set: starts the wanted release as the other set, which is WEB_SET from then on. Dies if it is not healthy, or
# answers the proxy worse than the set that serves.
start_set() {
  wanted=$(replicas)
  docker compose --progress quiet rm --force web >/dev/null 2>&1 || true
  # `web` is both sets now.
  ask_only "$WEB_SET" || die "proxy: it could not be told which release to ask; $unchanged"
  WEB_SET=$(other_set "$WEB_SET")
  docker compose --progress quiet up --detach --no-build --no-recreate \
    --scale "web=$(($(alive web | count) + wanted))" web >&2 || die "web: the reason is above; $unchanged"
  # shellcheck disable=SC2046 # a list
  problem=$(wait_until_healthy $(set_of "$WEB_SET") && answer_proxy $(set_of "$WEB_SET")) ||
    die "web: $problem; $unchanged"
}

# switch_set: the proxy asks the started set only, and the other one stops.
switch_set() {
  replaced=$(set_of "$(other_set "$WEB_SET")" | head -n 1)
  [ "$(image_of "$replaced")" = "$(newest_image)" ] || keep_release "$replaced"
  store_files "$replaced"
  save_set
  ask_only "$WEB_SET" || die "proxy: it could not be told which release to ask; $unchanged"
  stop_other_set 20
}

# stop_other_set SECONDS: stops the set that the proxy does not ask any more, when its requests have ended. An app that
# gets SIGTERM goes on with connections that the proxy uses, and resets idle ones with the form in them.
stop_other_set() {
  others=$(set_of "$(other_set "$WEB_SET")")
  if [ -n "$others" ]; then
    drain
    # shellcheck disable=SC2086 # a list
    { docker stop -t "$1" $others; docker rm --force $others; } >/dev/null || true
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
  paths=$(setting BASE_PATH)$(setting HEALTH_PATH /healthz) serving=$(set_of "$(other_set "$WEB_SET")" | head -n 1)
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
