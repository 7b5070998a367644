# shellcheck shell=sh
# Watches a new release. It is bad if, within BAKE_TIME_S, at least 10 requests get a 5xx, and more than twice the share
# that all requests since the proxy's start had before, plus one percent; or if a container of it restarts or becomes
# unhealthy. Sourced after releases.sh.

MIN_FAILED=10

# counters: prints how many requests except envelopes were answered, and how many with 5xx.
counters() {
  # Without what the client says when Ctrl-C reaches it, too.
  docker compose exec -T proxy curl -s -m 5 http://127.0.0.1:8081/metrics 2>/dev/null | awk '
    /^culvert_requests_total\{route="(page|static|websocket)"/ { total += $2 }
    /^culvert_requests_total\{route="(page|static|websocket)",class="5xx"/ { failed += $2 }
    END { printf "%d %d\n", total, failed }'
}

# are_bad TOTAL FAILED TOTAL_BEFORE FAILED_BEFORE
are_bad() {
  awk -v t="$1" -v f="$2" -v tb="$3" -v fb="$4" -v min="$MIN_FAILED" \
    'BEGIN { exit !(f >= min && f / t > 2 * (tb ? fb / tb : 0) + 0.01) }'
}

# problem_of IMAGE BEFORE: prints what is wrong with the release, if anything. BEFORE: the counters' first reading.
problem_of() {
  for container in $(containers web); do
    docker inspect --format '{{.RestartCount}} {{.State.Health.Status}}' "$container" | {
      read -r restarts health
      if [ "$restarts" -gt 1 ]; then echo "restarted $restarts times: $(reason "$container")"
      elif [ "$health" = unhealthy ]; then echo "unhealthy: $(reason "$container")"; fi
    }
  done | head -n 1 | grep . && return
  # shellcheck disable=SC2046,SC2086 # numbers
  set -- $(counters) $2
  [ $# = 4 ] && [ "$1" -ge "$3" ] || return 0
  ! are_bad $(($1 - $3)) $(($2 - $4)) "$3" "$4" ||
    echo "$(($2 - $4)) of $(($1 - $3)) requests since its start got a 5xx (before: $4 of $3):" \
      "see 'docker compose logs web'"
}

stopped_watching() {
  say "culvert: stopped watching; the new release keeps running: make rollback puts the one before it back"
}

# watch IMAGE: reports a bad release, undoes it with ROLLBACK_ON_ERRORS=on, and dies.
watch() {
  bake_time_s=$(setting BAKE_TIME_S 60)
  [ "$bake_time_s" != off ] || return 0
  # A make rollback from another terminal must not wait.
  exec 9>&-
  trap 'stopped_watching; exit 130' INT TERM HUP
  say "==> Watch the new release for $bake_time_s s: 5xx and crashes (Ctrl-C ends the watch, not the release)"
  before=$(counters)
  end=$(($(date +%s) + bake_time_s))
  problem=
  while [ -z "$problem" ] && [ "$(date +%s)" -lt "$end" ]; do
    sleep 2
    if [ "$(newest_image)" != "$1" ]; then
      say "    another make up or rollback has replaced this release: no longer watched"
      return
    fi
    problem=$(problem_of "$1" "$before")
  done
  trap - INT TERM HUP
  if [ -z "$problem" ]; then
    # shellcheck disable=SC2046,SC2086
    set -- $(counters) $before
    say "    $(($2 - $4)) of $(($1 - $3)) requests got a 5xx (before: $4 of $3)"
    return
  fi
  say "culvert: web: $problem"
  mark_bad "$1"
  [ "$(setting ROLLBACK_ON_ERRORS off)" = on ] || die "the new release is bad:" \
    "make rollback puts the one before it back (ROLLBACK_ON_ERRORS=on does so by itself)"
  BAD_IMAGE=$1 deploy/host/rollback.sh || die "the new release is bad, and was not undone: the reason is above"
  die "the new release is bad: the one before it was put back"
}
