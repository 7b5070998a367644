# shellcheck shell=sh
# One attempt to get a certificate. Sourced.
. "$(dirname "$0")/schedule.sh"
. "$(dirname "$0")/explain.sh"

log=/tmp/uacme.log
# The name whose challenge is being answered; hook.sh writes it.
challenged=/tmp/challenged
# There while the account is being registered.
registering=/tmp/registering
# A CA that accepts connections and never answers.
ORDER_TIMEOUT_S=900

# client ARGUMENT...: runs uacme. Only its third level of verbosity shows response headers, which explain.sh reads.
client() {
  timeout "$ORDER_TIMEOUT_S" uacme -vvv -a "$ACME_DIRECTORY" -c "$account" -h /acme/hook.sh -t EC "$@" >"$log" 2>&1 || {
    client_status=$?
    [ "$client_status" -ne 124 ] || echo "uacme: $ACME_DIRECTORY failed to answer within $ORDER_TIMEOUT_S s" >"$log"
    return "$client_status"
  }
}

# register: makes the account, or gives it the e-mail address that is set now. uacme takes the key of an external account only as an
# argument; it is needed for this alone.
register() {
  [ ! -e "$account/contact" ] || [ "$(cat "$account/contact")" != "$ACME_EMAIL" ] || return 0
  set -- ${ACME_EMAIL:+"$ACME_EMAIL"}
  : >"$registering"
  client -y ${ACME_EAB_KEY_ID:+-e "$ACME_EAB_KEY_ID:$(eab_key)"} new "$@" ||
    { grep -q 'Account already exists' "$log" && client update "$@"; } || return
  rm "$registering"
  printf '%s\n' "$ACME_EMAIL" >"$account/contact"
}

# publish: gives the proxy the new pair. A link is replaced, so that it never sees the half of one.
publish() {
  pair=$(mktemp -d "$store/pair.XXXXXX")
  cp "$account/$main_name/cert.pem" "$pair/server.crt"
  cp "$account/private/$main_name/key.pem" "$pair/server.key"
  printf '%s\n' "$ACME_DIRECTORY $names" >"$pair/issued-for"
  ln -sfn "${pair##*/}" "$store/next"
  mv -T "$store/next" "$store/current"
  for old in "$store"/pair.*; do [ "$old" = "$pair" ] || rm -rf "$old"; done
  rm -f "$account/$main_name"/cert-*.pem
}

say_valid() { say "$main_name" "certificate for $names from $ACME_DIRECTORY, valid until $(date -u -d "@$(not enddate)" +%FT%TZ)"; }

# order: gets a certificate if it is time to. Returns 0 when all is well, 2 when it failed (explain says why).
order() {
  rm -f "$challenges"/* "$challenged" "$registering"
  register || return 2
  # shellcheck disable=SC2154 # acme.sh's
  if [ -z "$forced" ] && [ "$(until_renewal)" -gt 0 ]; then
    # The CA may want an earlier renewal (ARI); the number of days counts where it has no opinion.
    set -- -d 1
  else
    # A new key for each certificate.
    rm -rf "$account/private/${main_name:?}"
    set -- -f
  fi
  # shellcheck disable=SC2086 # a list
  client "$@" issue $names && issued=0 || issued=$?
  case $issued in
    0)
      publish
      say_valid
      ;;
    # Still current.
    1) ;;
    *)
      ! grep -q 'no account associated' "$log" || rm -f "$account/contact"
      return 2
      ;;
  esac
}
