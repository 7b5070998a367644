# shellcheck shell=sh
# The settings, checked. Sourced.
# shellcheck disable=SC2034 # used by acme.sh

# one_line TEXT: as it may stand in a log.
one_line() { printf '%s' "$1" | LC_ALL=C tr -s '\000-\037\177-\377' ' '; }
# say TEXT: one line of the log.
say() { printf 'culvert acme: %s\n' "$(one_line "$1")" >&2; }
# refuse SETTING PROBLEM FIX: ends the container with one line.
refuse() { say "$1: $2: $3"; exit 1; }

# The proxy, which starts first, has checked that these are names.
names=$(printf '%s' "${SERVER_NAME:-localhost}" | tr ',' ' ' | xargs)
main_name=${names%% *}
for name in ${names:-,}; do
  case $name in
    *.*[!0-9.]*) ;;
    *) refuse SERVER_NAME "'$name' is not a public name" "set it to the names of the site, such as app.example.com" ;;
  esac
done
case ${ACME_DIRECTORY:=https://acme-v02.api.letsencrypt.org/directory} in
  https://[!/]*) ;;
  *) refuse ACME_DIRECTORY "'$ACME_DIRECTORY' is not an https address" "copy the directory's address from the CA's documentation" ;;
esac
if [ -n "${ACME_CA_FILE:-}" ]; then
  openssl x509 -noout -in "$ACME_CA_FILE" 2>/dev/null ||
    refuse ACME_CA_FILE "'$ACME_CA_FILE' holds no certificate that uid $(id -u) can read" "give the CA's own certificate, PEM"
  export UACME_CAINFO="$ACME_CA_FILE"
fi

: "${ACME_EMAIL:=}" "${ACME_EAB_KEY_ID:=}" "${ACME_EAB_KEY_FILE:=}"
case ${ACME_EAB_KEY_ID:+ID}${ACME_EAB_KEY_FILE:+FILE} in
  ID) refuse ACME_EAB_KEY_FILE "missing while ACME_EAB_KEY_ID is set" "set both or neither" ;;
  FILE) refuse ACME_EAB_KEY_ID "missing while ACME_EAB_KEY_FILE is set" "set both or neither" ;;
esac
# In the form that uacme takes, base64url without padding.
eab_key=$(tr -d '= \t\r\n' 2>/dev/null <"${ACME_EAB_KEY_FILE:-/dev/null}" | tr '+/' '-_')
case $ACME_EAB_KEY_FILE,$eab_key in
  ,) ;;
  *, | *,*[!A-Za-z0-9_-]*) refuse ACME_EAB_KEY_FILE "'$ACME_EAB_KEY_FILE' holds no key in base64url that uid $(id -u) can read" "write the CA's HMAC key into it, alone" ;;
esac
