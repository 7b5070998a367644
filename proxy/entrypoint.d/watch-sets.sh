#!/bin/sh
# Finds out which deployment each of WEB_SETS runs, if any, and keeps a file named after it (sets.sh). It asks replicas
# when their addresses have changed, and each minute. All other turns start getent for each name, and sleep.
set -eu

# deployment_at ADDRESS: sets `deployment` to the deploymentId of what answers there, if it says so: the package does,
# else Next 16 to RSC: 1. Sets `failure` to curl's status. After a failure, the next turn asks again.
deployment_at() {
  failure=0
  deployment=$(curl -s -m 4 -o /dev/null -H 'RSC: 1' \
    -H 'Sentry-Trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0' \
    -w '%header{x-nextjs-deployment-id}' "http://$1$BASE_PATH/.culvert") || failure=$? known=''
  case $deployment in *[!A-Za-z0-9_-]*) deployment='' ;; esac
}

# deployment_of_all: sets `of_all` to the deploymentId that every replica has, ready or not; to nothing while they
# differ.
deployment_of_all() {
  of_all=
  for entry in $found; do
    case $entry in "$all/"*) address=${entry#*/} ;; *) continue ;; esac
    case $address in *:*) address="[$address]" ;; esac
    deployment_at "$address:$port"
    if [ -z "$deployment" ] || [ "$deployment" != "${of_all:-$deployment}" ]; then of_all='' && return; fi
    of_all=$deployment
  done
}

# is_past FILE: whether its time has come.
is_past() { read -r time 2>/dev/null <"$1" && [ "$time" -le "$(date +%s)" ]; }

is_current() { case $1 in *web-current.* | *web-current) ;; *) return 1 ;; esac; }

# is_replaced NAME: whether this is web-current with no other address than when all replicas were last of its release.
is_replaced() {
  is_current "$1" || return
  for entry in $found; do
    case $entry in "$1./"*) case $settled in *" $entry "*) ;; *) return 1 ;; esac ;; esac
  done
}

# look NAME ADDRESS
look() {
  case $found in *" $1./"*) ;; *) rm -f "$1"/* "$1"/.[!.]* && return ;; esac
  ! is_past "$1/.ends" || return 0
  deployment_at "$2"
  id=$deployment
  # 7: nobody listens. In a rollout, DNS has pods of the next release already.
  [ -n "$id" ] || [ $failure = 7 ] || return 0
  find "$1" -type f ! -name "$id" ! -name ".$id" ! -name .ends -delete
  [ -n "$id" ] || return 0
  [ -n "$of_all" ] || deployment_of_all
  if [ "$id" = "$of_all" ]; then
    # web balances with all replicas.
    ! is_current "$1" || settled=$found
    rm -f "$1/$id" "$1/.$id"
  elif is_replaced "$1"; then
    # DNS still has these for web-current, which is about to be the next release.
    rm -f "$1/.$id"
  elif [ -e "$1/.$id" ]; then
    : >"$1/$id"
  else
    # In the next turn, when Nginx no longer has addresses from before either (templates/resolver.conf).
    : >"$1/.$id" && known=''
  fi
}

# find_addresses NAME...: sets `found` to words NAME/ADDRESS.
find_addresses() {
  found=' '
  for name; do
    while read -r address kind _; do
      [ "$kind" != STREAM ] || found="$found$name/$address "
    done <<ADDRESSES
$(getent ahosts "$name")
ADDRESSES
  done
}

# is_known: whether the words found are those of the last turn. DNS shuffles them.
is_known() {
  [ ${#found} -eq ${#known} ] || return
  for entry in $found; do
    case $known in *" $entry "*) ;; *) return 1 ;; esac
  done
}

# end_sets: what make up has written with a time ends then: all requests to one set (NAME.current), a set (NAME/.ends).
end_sets() {
  for file in *.current; do
    [ -e "$file" ] || continue
    case $found in *" ${file%.current}./"*) ! is_past "$file" || rm -f "$file" ;; *) rm -f "$file" ;; esac
  done
  for file in */.ends; do ! is_past "$file" || rm -f "${file%/*}"/*; done
}

watch() {
  set +e
  cd /var/lib/culvert/sets || exit
  upstream=${WEB_FALLBACK_UPSTREAM:-$WEB_UPSTREAM} sets=$(echo "$WEB_SETS" | tr , ' ')
  all=${upstream%:*} port=${upstream##*:}
  # The dot: without the search domains of this host.
  names=$all known='' settled='' turns=0
  for set in $sets; do names="$names ${set%:*}."; done
  while :; do
    # shellcheck disable=SC2086 # a list
    find_addresses $names
    end_sets
    turns=$((turns + 1))
    # Without an address of web, DNS does not answer: the files stay.
    if [ "${found#* "$all"/}" != "$found" ] && { [ $turns -gt 12 ] || ! is_known; }; then
      of_all='' turns=1 known=$found
      for set in $sets; do look "${set%:*}" "$set"; done
    fi
    sleep 5
  done
}
watch &
