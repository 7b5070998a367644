# shellcheck shell=sh
# Reads what the CA answered in uacme's log, and says what to do. Sourced after schedule.sh, with `log` and `challenged` set.
# shellcheck disable=SC2154

# reported FIELD: prints type or detail of the error that the CA reported last, or the Retry-After that came with it, which a CA
# should send with a rate limit: https://www.rfc-editor.org/rfc/rfc8555#section-6.6
reported() {
  tr -d '\r' <"$log" | awk -v field="$1" '
    /^uacme: acme_(get|post): url=/ { header = "" }
    tolower($1) == "retry-after:" { header = $0; sub(/^[^:]*: */, "", header) }
    /^uacme: the server reported the following error:/ { inside = 1; type = detail = ""; answered = header; next }
    /^}/ { inside = 0 }
    # Only its own fields: those of subproblems are further to the right.
    inside && /^    "(type|detail)": "/ {
      name = $1; gsub(/[":]/, "", name)
      sub(/^[^:]*: "/, ""); sub(/",?$/, ""); gsub(/\\"/, "\"")
      if (name == "type") { sub(/^urn:ietf:params:acme:error:/, ""); type = $0 } else detail = $0
    }
    END { print field == "type" ? type : field == "detail" ? detail : (type == "" ? header : answered) }'
}

# asked_to_wait: prints for how many seconds the CA wants no further attempt; 0 if it did not say. A date or a number:
# https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
asked_to_wait() {
  # Without leading zeros, which would make it octal.
  asked=$(reported retry-after | sed 's/^0*\([0-9]\)/\1/')
  case $asked in
    '') asked=0 ;;
    *[!0-9]*) asked=$(($(date -d "$asked" +%s 2>/dev/null || date +%s) - $(date +%s))) ;;
    ???????*) asked=$MAX_RETRY_AFTER_S ;;
  esac
  [ "$asked" -lt "$MAX_RETRY_AFTER_S" ] || asked=$MAX_RETRY_AFTER_S
  [ "$asked" -gt 0 ] && echo "$asked" || echo 0
}

# fix: prints what to do about the error.
fix() {
  case $(reported type) in
    connection | dns | unauthorized | tls)
      if [ -e "$challenged" ]; then
        echo "point its DNS records at this host, and port 80 there at HTTP_PORT"
        return
      fi
      ;;
    rateLimited) echo "the CA's rate limit"; return ;;
    invalidContact | unsupportedContact) echo "check ACME_EMAIL"; return ;;
  esac
  if grep -q -e 'requires external credentials' -e 'error:externalAccountRequired' "$log"; then
    echo "set ACME_EAB_KEY_ID and ACME_EAB_KEY_FILE to the credentials that the CA gave you"
  elif [ -e "$registering" ] && [ -n "$ACME_EAB_KEY_ID" ] && [ -n "$(reported type)" ]; then
    echo "check ACME_EAB_KEY_ID and the key in ACME_EAB_KEY_FILE"
  else
    echo "check ACME_DIRECTORY and this host's way to the CA"
  fi
}

# explain SECONDS: says which name failed, what was answered, what to do, and when the next attempt is made.
explain() {
  who=$(cat "$challenged" 2>/dev/null || echo "$ACME_DIRECTORY")
  answer=$(reported detail)
  [ -n "$answer" ] || answer=$(grep -e ' failed' -e ' requires ' "$log" | sed 's/^uacme: \([a-z_]*: \)\{0,1\}//' | head -n 1)
  if [ "$(until_retry_after)" -gt 0 ]; then
    next_attempt="next attempt at $(in_utc "$1"); until then $(what_is_served)"
  else
    next_attempt="next attempt in $((($1 + 59) / 60)) min, or at once with 'docker compose restart acme'"
  fi
  say "$who" "${answer:-no answer}: $(fix); $next_attempt"
}

# what_is_served: prints which certificate the proxy has meanwhile.
what_is_served() {
  if [ -e "$store/current/server.crt" ]; then
    echo "the certificate valid until $(date -u -d "@$(not enddate)" +%FT%TZ) stays"
  else
    echo "the development certificate stays"
  fi
}
