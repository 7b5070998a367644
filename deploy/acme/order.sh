# shellcheck shell=sh
# One attempt to get a certificate. Sourced.
. "$(dirname "$0")/schedule.sh"

log=/tmp/uacme.log
# The name whose challenge is being answered; hook.sh writes it.
challenged=/tmp/challenged
# A CA that accepts connections and never answers.
ORDER_TIMEOUT_S=900

client() { timeout "$ORDER_TIMEOUT_S" uacme -a "$ACME_DIRECTORY" -c "$account" -h /acme/hook.sh -t EC "$@" >"$log" 2>&1; }

# register: makes the account, or gives it the e-mail address that is set now.
register() {
  [ ! -e "$account/contact" ] || [ "$(cat "$account/contact")" != "$ACME_EMAIL" ] || return 0
  set -- ${ACME_EMAIL:+"$ACME_EMAIL"}
  client -y new "$@" || { grep -q 'Account already exists' "$log" && client update "$@"; } || return
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
  rm -f "$challenges"/* "$challenged"
  register || return 2
  if [ "$(until_renewal)" -gt 0 ]; then
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

# explain SECONDS: says which name failed, what was answered, what to do, and when the next attempt is made.
explain() {
  who=$(cat "$challenged" 2>/dev/null || echo "$ACME_DIRECTORY")
  answer=$(sed -n 's/^ *"detail": "\(.*\)",\{0,1\}$/\1/p' "$log" | sed 's/\\\(.\)/\1/g' | head -n 1)
  [ -n "$answer" ] || answer=$(grep '^uacme: ' "$log" | sed 's/^uacme: \([a-z_]*: \)\{0,1\}//' | head -n 1)
  case $(sed -n 's/^ *"type": "urn:ietf:params:acme:error:\(.*\)",$/\1/p' "$log" | head -n 1) in
    connection | dns | unauthorized | tls) fix="point its DNS records at this host, and port 80 there at HTTP_PORT" ;;
    rateLimited) fix="the CA limits this account" ;;
    *) fix="check ACME_DIRECTORY and this host's way to the CA" ;;
  esac
  say "$who" "${answer:-no answer within $ORDER_TIMEOUT_S s}: $fix; next attempt in $((($1 + 59) / 60)) min, or at once with 'docker compose restart acme'"
}
