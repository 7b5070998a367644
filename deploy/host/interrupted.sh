# shellcheck shell=sh
# Puts in order what a deployment left that was killed before its end: by kill -9, or because the machine went down. Sourced by
# rolling.sh.
# shellcheck disable=SC2034,SC2154

WAIT_FOR_OTHERS_S=1800

# repair: leaves one proxy, which has its ports, and web's containers of one release. Sets `undone` if that is the release that was to be
# replaced.
repair() {
  project=$(project_name)
  wait_for_others
  remove_trials
  repair_proxy
  repair_web
}

# wait_for_others: waits until no other deployment runs, which repair would take for an interrupted one, and keeps others waiting. The
# rollback of a deployment is part of it. Without flock (macOS) nothing is checked.
wait_for_others() {
  if [ "${CULVERT_DEPLOYMENT:-}" = "$project" ] || ! has flock; then return; fi
  export CULVERT_DEPLOYMENT="$project"
  mkdir -p .culvert
  exec 9>".culvert/$project.lock"
  flock -n 9 && return
  say "==> Another make up, deploy or rollback is running: waiting until it ends"
  flock -w "$WAIT_FOR_OTHERS_S" 9 || die "another make up, deploy or rollback has not ended in $((WAIT_FOR_OTHERS_S / 60)) minutes"
}

# repair_proxy: keeps the proxy that has the ports. If none has, the old one had released them and the new one not got them yet: only the
# old one, which has stopped, is still in all networks. If the new one did not get them, it was removed first.
repair_proxy() {
  if [ "$(containers proxy | wc -l)" -le 1 ]; then
    [ ! -s "$(replaced_file)" ] || for container in $(containers proxy --filter status=exited); do
      { docker start "$container" >/dev/null && wait_until_healthy proxy "$container"; } || true
    done
    return 0
  fi
  say "==> An interrupted deployment left two proxies: keeping the one with the ports"
  old_proxy=
  for container in $(containers proxy --filter status=running); do
    ! is_open "$container" || old_proxy=$container
  done
  for container in $(containers proxy --filter status=exited); do
    [ -n "$old_proxy" ] || { docker start "$container" >/dev/null && is_open "$container" && old_proxy=$container; } || true
  done
  [ -z "$old_proxy" ] || { remove_new_proxy && wait_until_healthy proxy "$old_proxy"; }
}

# remove_new_proxy: removes every proxy but the old one.
remove_new_proxy() {
  for container in $(containers proxy | grep -vxF "$old_proxy"); do docker rm --force "$container" >/dev/null; done
}

# repair_web: keeps the containers that were to be replaced, or if one of them is gone, not healthy or being stopped, those that replace
# them. If both releases lack some, both stay until the next one has replaced them (find_running).
repair_web() {
  undone=
  [ -s "$(replaced_file)" ] || return 0
  replaced=$(containers web --filter status=running | grep -xF -f "$(replaced_file)" || true)
  replacing=$(containers web | grep -vxF -f "$(replaced_file)" || true)
  if [ -z "$replacing" ] || ! grep -qx started "$(replaced_file)"; then
    undone=yes
  elif [ -n "$replaced" ]; then
    if ! grep -qx stopping "$(replaced_file)" && are_whole "$replaced"; then
      say "==> An interrupted deployment left two releases: removing the one that was not complete"
      undone=yes
      # shellcheck disable=SC2086 # a list
      remove_gracefully $replacing
    elif are_whole "$replacing"; then
      say "==> An interrupted deployment left two releases: removing the rest of the replaced one"
      # shellcheck disable=SC2086
      remove_gracefully $replaced
    else return 0; fi
  fi
  rm "$(replaced_file)"
}

# are_whole CONTAINERS: whether all containers of a release are there and healthy.
are_whole() {
  [ "$(echo "$1" | wc -l)" -ge "$(replaced_count)" ] || return
  for container in $1; do [ "$(state "$container")" = 'running healthy' ] || return; done
}
