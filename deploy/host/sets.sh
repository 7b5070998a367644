# shellcheck shell=sh disable=SC2154 # unchanged: stack.sh
# A set is the replicas of one release of web. Their label is culvert.set, their name for the proxy web-a or web-b.
# ARCHITECTURE.md says what remembers the current one.

# set_of SET, others: prints the containers of a set, or all but those of WEB_SET: the current set, and from start_set
# on the next one. An earlier version's set has no name.
set_of() { lines_of web | awk -v set="$1" '$8 == set { print $1 }'; }
others() { lines_of web | awk -v set="$WEB_SET" '$8 != set { print $1 }'; }

# current_set: prints the current set: of those that run, the one that .env names, else the one that was started first.
current_set() {
  lines_of web | alive_lines | awk -v saved="$(saved WEB_SET)" -v first="$(unset WEB_SET; setting WEB_SET)" '
    NR == 1 || set != saved { set = $8 }
    END { print NR ? set : first }'
}

# replicas: prints how many the current set has: `docker compose up --scale` may have added some.
replicas() { set_of "$WEB_SET" | count | sed 's/^0$/1/'; }

# start_set: starts the wanted release as the other set, which is WEB_SET from then on. Dies if answer_proxy fails.
start_set() {
  wanted=$(replicas) serving=$(alive web | count)
  docker compose --progress quiet rm --force web >/dev/null 2>&1 || true
  # The name `web` is of both sets from now on. The set without a name has no other name.
  [ -z "$WEB_SET" ] || ask_only "$WEB_SET" || die "$not_told"
  if [ "$WEB_SET" = a ]; then WEB_SET=b; else WEB_SET=a; fi
  docker compose --progress quiet up --detach --no-build --no-recreate --scale "web=$((serving + wanted))" web >&2 ||
    die "web: the reason is above; $unchanged"
  read_stack
  started=$(set_of "$WEB_SET")
  # shellcheck disable=SC2086 # a list
  problem=$(wait_until_healthy $started && answer_proxy $started) || die "web: $problem; $unchanged"
  say_replaced "$(echo "$started" | head -n 1)"
}

# switch_set: makes the started set the current one. repair undoes it before save_release, and completes it afterwards.
switch_set() {
  replaced=$(others | head -n 1)
  [ "$(image_of "$replaced")" = "$(newest_image)" ] || keep_release "$replaced"
  store_files "$replaced"
  ask_only "$WEB_SET" || die "$not_told"
  save_release
  stop_others 20
}

# save_release: writes into .env what `docker compose up` needs to leave web as it runs.
save_release() {
  save WEB_SET "$WEB_SET"
  save WEB_RELEASE "$WEB_RELEASE"
}

# stop_others SECONDS: stops the sets that are not asked any more, after a pause: on SIGTERM, an app resets idle
# connections, with a form that the proxy has just sent.
stop_others() {
  unused=$(others)
  if [ -n "$unused" ]; then
    drain
    # shellcheck disable=SC2086 # a list
    { docker stop -t "$1" $unused; docker rm --force $unused; } >/dev/null || true
    read_stack
  fi
  # For 7 s, the proxy still has their addresses: `valid` and `resolver_timeout` of proxy/templates/resolver.conf.
  ask_only "$WEB_SET" 7 || true
}

# drain: gives a busy app time to read what the proxy has sent.
drain() { sleep 2; }

# ask_only SET [SECONDS]: the proxy asks only the replicas of this set until the next call, or for SECONDS, or a day.
# Without a name, it asks all.
ask_only() {
  # shellcheck disable=SC2016 # the container's
  in_sets '[ -z "$1" ] || { echo $(($(date +%s) + ${2:-86400})) >new; mv new "web-$1.current"; }
    find . -name "*.current" ! -name "web-$1.current" -delete' "$@"
}
not_told="proxy: it could not be told which set to ask; $unchanged"

# in_sets SCRIPT [ARGUMENT...]: runs it in the proxy's folder of sets (proxy/entrypoint.d/sets.sh).
in_sets() {
  script="cd /var/lib/culvert/sets; $1"
  shift
  docker compose exec -T proxy sh -euc "$script" sh "$@" 2>/dev/null
}

# answer_proxy CONTAINER...: whether all of these answer the proxy, and the first one not worse than the set that
# serves. Else prints the problem. With the same image, only the health check is compared, because a setting may change
# the start page.
answer_proxy() {
  paths=$(setting BASE_PATH)$(setting HEALTH_PATH) serving=$(others | head -n 1)
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

# status_of CONTAINER PATH SECONDS: prints the status of its response to the proxy, as to a client. Tries for SECONDS.
status_of() {
  name=$(first_of "$(setting SERVER_NAME)")
  docker compose exec -T proxy curl -s -m 5 -o /dev/null -w '%{http_code}' \
    --retry 60 --retry-delay 1 --retry-max-time "$3" \
    -H "Host: $name" -H "X-Forwarded-Host: $name" -H 'X-Forwarded-Proto: https' -H 'X-Request-Id: trial' \
    -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    "http://$(inner_address "$1"):3000$2" || true
}

# store_files CONTAINER: requests every hashed file of this release through the proxy, in each encoding, so that the
# proxy stores it for open pages.
store_files() {
  # One curl for all files: one each would take minutes.
  # shellcheck disable=SC2016 # the container's variables
  docker cp "$1:/app/.next/static" - 2>/dev/null | tar -t 2>/dev/null | docker compose exec -T proxy sh -c '
    urls=$(sed -e "/\/$/d" -e "s|%|%25|g; s| |%20|g; s|\[|%5B|g; s|\]|%5D|g" \
      -e "s|^|url = https://127.0.0.1:8443${BASE_PATH:-}/_next/|")
    [ -n "$urls" ] || exit 0
    [ "${PROXY_PROTOCOL:-}" != on ] || set -- --haproxy-protocol
    for encoding in gzip identity; do
      printf "%s\n" "$urls" | curl -skg "$@" -H "Accept-Encoding: $encoding" -K - >/dev/null || exit
    done' || say "    not all files of the replaced release could be stored; those that clients have requested are"
}
