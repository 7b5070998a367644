# shellcheck shell=sh
# Sourced by the steps.

# The settings, and what steps derive from them. Only these are filled in: Nginx's own variables begin with $ as well.
# shellcheck disable=SC2016 # the names, not the values
template_variables='$WORKERS $WORKER_CONNECTIONS $WORKER_FILES $LOAD_BROTLI $NAME_SERVERS $REAL_IP_FROM $REAL_IP_HEADER $TRUSTED_NETWORKS
  $OTHERS_ARE_INTERNAL $INTERNAL_SUBNET $REQUEST_ID_TRUST $CLIENT_NETWORK
  $INGEST $INGEST_ADDRESS $INGEST_HOST $INGEST_ENVELOPE $INGEST_TLS_NAME $INGEST_CA_FILE $SDK_TUNNEL_PATH $ENVELOPE_FALLBACK $SPOOL_UPSTREAM
  $TUNNEL_PATH $TUNNEL_CLIENT $TUNNEL_RATE_PER_CLIENT $TUNNEL_RATE_TOTAL
  $REQUEST_RATE_ZONE $REQUEST_RATE_LIMIT $PAGE_RATE_ZONE $PAGE_RATE_LIMIT $OPEN_REQUESTS_ZONE $OPEN_REQUESTS_LIMIT $OPEN_REQUESTS_TOTAL
  $OPEN_PAGES_ZONE $OPEN_PAGES_LIMIT
  $OPEN_PAGES_PER_REPLICA $OPEN_PREFETCHES_PER_REPLICA $PAGE_UPSTREAM $AFTER_PAGE $AFTER_PAGE_RETRY $PAGE_KIND
  $SERVED_NAMES $REDIRECT_PORT $PROXY_PROTOCOL_PARAMETER $HTTP3_LISTEN $HTTP3_LISTEN_DEFAULT $ALT_SVC $HSTS $CONTENT_SECURITY_POLICY
  $WEB_UPSTREAM $WEB_FALLBACK $BASE_PATH $HEALTH_PATH $WEBSOCKET_PATH $MAX_BODY_SIZE $RESPONSE_TIMEOUT $ASSET_RETENTION'

# render TEMPLATE...: appends each template, filled in with exported variables, to the file of the same name in $RENDERED.
# One process for all of them: envsubst takes one for each.
render() {
  (cd /etc/nginx/templates && awk -v variables="$template_variables" '
    BEGIN { for (count = split(variables, names); count > 0; count--) known[names[count]] }
    {
      text = ""
      while (match($0, /[$]([A-Za-z_][A-Za-z0-9_]*|[{][A-Za-z_][A-Za-z0-9_]*[}])/)) {
        found = substr($0, RSTART, RLENGTH)
        name = found
        gsub(/[{}]/, "", name)
        text = text substr($0, 1, RSTART - 1) (name in known ? ENVIRON[substr(name, 2)] : found)
        $0 = substr($0, RSTART + RLENGTH)
      }
      print text $0 >>(ENVIRON["RENDERED"] "/" FILENAME)
    }' "$@")
}

# leave_out TEMPLATE: the settings need none of it.
leave_out() { : >>"$RENDERED/$1"; }
