# shellcheck shell=sh
# Watches a new release for BAKE_TIME_S after it has replaced the old one: does it answer more requests with 5xx than the release before,
# does it crash, does it become unhealthy? Sourced after lib.sh and rolling.sh, with `proxy` set to the proxy's container.
# shellcheck disable=SC2154

MIN_FAILED=10     # fewer requests with 5xx prove nothing
SAMPLE_LINES=20000 # of the log: the engine finds its last lines at once, but a time only by reading all of it
INTERVAL_S=2

# check_bake_settings: sets bake_time_s and rollback_on_errors.
check_bake_settings() {
  bake_time_s=$(setting BAKE_TIME_S 60)
  case $bake_time_s in
    off) bake_time_s=0 ;;
    0* | *[!0-9]* | ?????*) die "BAKE_TIME_S: '$bake_time_s' is not a number of seconds: use one from 1 to 9999, or off" ;;
  esac
  rollback_on_errors=$(setting ROLLBACK_ON_ERRORS off)
  case $rollback_on_errors in
    on | off) ;;
    *) die "ROLLBACK_ON_ERRORS: '$rollback_on_errors' is neither on nor off: use on to undo a release that answers with 5xx" ;;
  esac
}

# count_requests: prints "TOTAL FAILED STATUS REQUEST_ID PATH" for the proxy's log at standard input: requests for pages and files, those
# answered with 5xx, and the last of these. Lines of envelopes have no path. What the proxy sheds or limits is load, not the release.
# Prints "unreadable" instead if that is the last line.
count_requests() {
  LC_ALL=C tr -c '\040-\176\n' '?' | awk '
    function field(name) {
      if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
      return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
    }
    $0 == "unreadable" { unreadable = 1 }
    !/"path":"/ || /"reason":"overload"/ { next }
    { total++ }
    match($0, /"status":5[0-9][0-9],/) { failed++; status = substr($0, RSTART + 9, 3); id = field("request_id"); path = field("path") }
    END { if (unreadable) print "unreadable 0"; else printf "%d %d %s %s %.200s\n", total, failed, status, id, path }'
}

# requests SINCE: the same for the log since then.
requests() { { docker logs --tail "$SAMPLE_LINES" --since "$1" "$proxy" 2>/dev/null || echo unreadable; } | count_requests; }

# too_many FAILED TOTAL FAILED_BEFORE TOTAL_BEFORE: whether the first two are worse than the release before: at least 10 more than twice
# its share, and 1 % of the requests; 5 % if it had too few requests to know its share.
too_many() {
  expected=0 percent=5
  [ "$4" -eq 0 ] || expected=$((2 * $3 * $2 / $4))
  [ "$4" -lt 100 ] || percent=1
  [ "$1" -ge $((MIN_FAILED + expected)) ] && [ $(($1 * 100)) -ge $(($2 * percent)) ]
}

# share FAILED TOTAL: prints the percentage.
share() { awk -v failed="$1" -v total="$2" 'BEGIN { printf "%.1f %%", total ? 100 * failed / total : 0 }'; }

# container_problem: prints what is wrong with the first of the new containers that restarts again and again or is unhealthy.
container_problem() {
  for container in $new; do
    docker inspect --format '{{.RestartCount}} {{with .State.Health}}{{.Status}}{{end}}' "$container" 2>/dev/null | {
      read -r restarts health || exit 0
      if [ "$restarts" -gt 1 ]; then
        printf '%s\n' "restarted $restarts times: $(reason "$container")"
      elif [ "$health" = unhealthy ]; then
        printf '%s\n' "unhealthy: $(reason "$container")"
      fi
    }
  done | head -n 1
}

# error_problem: prints what is wrong with the answers since `bake_start`, if anything. Before the end of the bake time they are judged as
# if there would be as many requests as before the release: the first failures of many requests to come prove nothing.
error_problem() {
  [ "$total" != unreadable ] || return 0
  least=$total
  [ "$left_s" -le 0 ] || [ "$total_before" -le "$total" ] || least=$total_before
  if too_many "$failed" "$least" "$failed_before" "$total_before"; then printf '%s\n' "$(errors); see 'docker compose logs web'"; fi
}

# errors: prints the counts and an example.
errors() {
  if [ "$total_before" -gt 0 ]; then past=$(share "$failed_before" "$total_before"); else past='no requests'; fi
  example=
  [ "$failed" -eq 0 ] || example=", such as $path ($status, request id $request_id)"
  printf '%s\n' "$failed of the last $total requests got a 5xx ($(share "$failed" "$total"); before this release $past)$example"
}

# summary: prints the result of a bake time without a problem.
summary() {
  case $total in
    unreadable) echo "the proxy's log cannot be read: the release was not watched" ;;
    0) echo "no requests came: nothing is known about the new release" ;;
    *) errors ;;
  esac
}

# left: prints the seconds that are left. Ctrl-C ends `date` as well, before the shell runs its trap.
left() {
  now_s=$(date +%s) || return
  echo $((bake_start + bake_time_s - now_s))
}

# bake: returns once the bake time is over; with status 1 as soon as something is wrong, which it leaves in `problem`. `before` is the
# output of `requests` for the time before the release.
bake() {
  # shellcheck disable=SC2086 # words
  set -- $before
  [ "$1" != unreadable ] || set -- 0 0
  total_before=$1 failed_before=$2
  bake_start=$(date +%s)
  while
    left_s=$(left)
    # The proxy writes its log once a second.
    sleep $((left_s > INTERVAL_S ? INTERVAL_S : left_s > 1 ? left_s : 1))
    left_s=$(left)
    read -r total failed status request_id path <<-COUNTS
	$(requests "$bake_start")
	COUNTS
    problem=$(container_problem)
    [ -n "$problem" ] || problem=$(error_problem)
    [ -z "$problem" ] && [ "$left_s" -gt 0 ]
  do :; done
  [ -z "$problem" ]
}

# watch: reports a bad release, undoes it with ROLLBACK_ON_ERRORS=on, and dies.
watch() {
  # A make rollback from another terminal must not wait (interrupted.sh).
  exec 9>&-
  unset CULVERT_DEPLOYMENT
  proxy=$(docker compose ps --quiet proxy)
  trap 'say "culvert: stopped watching; the new release keeps running: make rollback puts the one before it back"; exit 130' INT TERM HUP
  say "==> Watch the new release for $bake_time_s s: 5xx and crashes (Ctrl-C ends the watch, not the release)"
  if bake; then baked=0; else baked=1; fi
  trap - INT TERM HUP
  if ! containers web | grep -qxF "$new"; then
    say "    another make deploy or rollback has replaced this release: no longer watched"
    return
  fi
  if [ "$baked" = 0 ]; then
    say "    $(summary)"
    return
  fi
  say "culvert: web: $problem"
  [ "$new_image" != "$old_image" ] ||
    die "this image ran before, too: look for the cause in the settings, and run make deploy again"
  [ "$rollback_on_errors" = on ] || die "the new release is bad: make rollback puts the one before it back (ROLLBACK_ON_ERRORS=on does so by itself)"
  # It may have to wait for another deployment, which replaces this release.
  BAD_IMAGE=$new_image RELEASE=$(tags_of "$old_image" | head -n 1) "$here/rollback.sh" ||
    die "the new release is bad, and was not undone: the reason is above"
  die "the new release is bad: the one before it was put back"
}
