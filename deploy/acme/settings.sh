# shellcheck shell=sh
# The settings, checked, and the places of all files. Sourced.
# shellcheck disable=SC2034 # used by those that source it

umask 077
export LC_ALL=C

# one_line TEXT: as it may stand in a log. The end of a long text says what to do, so its middle is left out.
one_line() {
  printf '%s' "$1" | tr -s '\t\n\v\f\r' ' ' | tr -c '\040-\176' '?' |
    awk '{ print (length > 1000 ? substr($0, 1, 300) " ... " substr($0, length - 695) : $0) }'
}

# say NAME TEXT: one line of the log.
say() { printf 'culvert acme: %s: %s\n' "$(one_line "$1")" "$(one_line "$2")" >&2; }

# refuse SETTING PROBLEM FIX: ends the container with one line.
refuse() { say "$1" "$2: $3"; exit 1; }

# The proxy, which starts first, has checked that these are names.
set -f
# shellcheck disable=SC2046 # a list
set -- $(printf '%s' "${SERVER_NAME:-localhost}" | tr ',' ' ')
set +f
[ $# -gt 0 ] || refuse SERVER_NAME "'$SERVER_NAME' has no name" "set it to the names of the site, such as app.example.com"
names=$* main_name=$1
for name in "$@"; do
  case $name in
    *.*[!0-9.]*) ;;
    *) refuse SERVER_NAME "'$name' is not a public name" "set it to the names of the site, such as app.example.com" ;;
  esac
done

ACME_EMAIL=${ACME_EMAIL:-}
case $ACME_EMAIL in
  '' | [!@-]*@*[!@]) ;;
  *) refuse ACME_EMAIL "'$ACME_EMAIL' is not an e-mail address" "give the one where the CA reaches you, or leave it empty" ;;
esac
case $ACME_EMAIL in
  *[!A-Za-z0-9@._+-]* | *@*@*) refuse ACME_EMAIL "'$ACME_EMAIL' is not one e-mail address" "give one, such as ops@example.com" ;;
esac

ACME_DIRECTORY=${ACME_DIRECTORY:-https://acme-v02.api.letsencrypt.org/directory}
case $ACME_DIRECTORY in
  *[!A-Za-z0-9./:_~%?=\&-]* | https:///* | https://) false ;;
  https://*) ;;
  *) false ;;
esac || refuse ACME_DIRECTORY "'$ACME_DIRECTORY' is not an https address" "copy the directory's address from the CA's documentation"

if [ -n "${ACME_CA_FILE:-}" ]; then
  openssl x509 -noout -in "$ACME_CA_FILE" 2>/dev/null ||
    refuse ACME_CA_FILE "'$ACME_CA_FILE' holds no certificate that uid $(id -u) can read" "give the CA's own certificate, PEM"
  export UACME_CAINFO="$ACME_CA_FILE"
fi

ACME_EAB_KEY_ID=${ACME_EAB_KEY_ID:-}
ACME_EAB_KEY_FILE=${ACME_EAB_KEY_FILE:-}
case $ACME_EAB_KEY_ID in
  # What uacme puts into its request as it is.
  *[!\!-~]* | *[\":\\]*) refuse ACME_EAB_KEY_ID "has a space, a quote, a colon or a backslash" "copy the key ID that the CA gave you" ;;
esac
[ -z "$ACME_EAB_KEY_FILE" ] || [ -n "$ACME_EAB_KEY_ID" ] || refuse ACME_EAB_KEY_ID "missing while ACME_EAB_KEY_FILE is set" "set both or neither"
[ -z "$ACME_EAB_KEY_ID" ] || [ -n "$ACME_EAB_KEY_FILE" ] || refuse ACME_EAB_KEY_FILE "missing while ACME_EAB_KEY_ID is set" "set both or neither"

# eab_key: prints the HMAC key in the form that uacme takes, base64url without padding.
eab_key() { tr -d '= \t\r\n' <"$ACME_EAB_KEY_FILE" | tr '+/' '-_'; }
if [ -n "$ACME_EAB_KEY_FILE" ]; then
  [ -r "$ACME_EAB_KEY_FILE" ] ||
    refuse ACME_EAB_KEY_FILE "'$ACME_EAB_KEY_FILE' cannot be read by uid $(id -u)" "give it to that user: chown $(id -u), chmod 400"
  case $(eab_key) in
    '' | *[!A-Za-z0-9_-]*) refuse ACME_EAB_KEY_FILE "'$ACME_EAB_KEY_FILE' holds no key in base64url" "write the HMAC key that the CA gave you into it, and nothing else" ;;
  esac
fi

# Seconds until the second attempt. Only tests set it.
ACME_RETRY=${ACME_RETRY:-900}

# The CA's account and what uacme keeps: a folder for each CA.
account=/var/lib/acme/$(printf '%s' "${ACME_DIRECTORY#https://}" | tr -c 'A-Za-z0-9.-' '_')
attempts=/var/lib/acme/attempts
retry_after=$account/retry-after
# What the proxy sees.
store=/srv/certificates
challenges=$store/challenges
# Failed attempts since the last certificate, for the proxy's metrics. No file while all is well.
failures=$store/failures
mkdir -p "$account" "$challenges"
