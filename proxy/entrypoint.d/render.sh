# shellcheck shell=sh
# Sourced by the steps.

# The settings, and what steps derive from them. Only these are filled in: Nginx's own variables begin with $ as well.
# shellcheck disable=SC2016 # envsubst wants the names, not the values
template_variables='$WORKERS $WORKER_CONNECTIONS $WORKER_FILES $LOAD_BROTLI $NAME_SERVERS $REAL_IP_FROM $REAL_IP_HEADER $TRUSTED_NETWORKS
  $OTHERS_ARE_INTERNAL $INTERNAL_SUBNET $REQUEST_ID_TRUST $CLIENT_NETWORK
  $INGEST_CA_FILE $ENVELOPE_FALLBACK $SPOOL_UPSTREAM
  $TUNNEL_PATH $TUNNEL_CLIENT $TUNNEL_RATE_PER_CLIENT $TUNNEL_RATE_TOTAL
  $REQUEST_RATE_ZONE $REQUEST_RATE_LIMIT $PAGE_RATE_ZONE $PAGE_RATE_LIMIT $OPEN_REQUESTS_ZONE $OPEN_REQUESTS_LIMIT $OPEN_REQUESTS_TOTAL
  $OPEN_PAGES_ZONE $OPEN_PAGES_LIMIT
  $OPEN_PAGES_PER_REPLICA $OPEN_PREFETCHES_PER_REPLICA $PAGE_LOCATION $PAGE_UPSTREAM $AFTER_PAGE $AFTER_PAGE_RETRY $PAGE_KIND
  $SERVED_NAMES $REDIRECT_PORT $PROXY_PROTOCOL_PARAMETER $HTTP3_LISTEN $HTTP3_LISTEN_DEFAULT $ALT_SVC $HSTS $CONTENT_SECURITY_POLICY
  $WEB_UPSTREAM $WEB_FALLBACK $BASE_PATH $HEALTH_PATH $WEBSOCKET_PATH $MAX_BODY_SIZE $RESPONSE_TIMEOUT $ASSET_RETENTION'

# render TEMPLATE...: appends each template, filled in with exported variables, to the file of the same name in $RENDERED.
render() {
  for template; do envsubst "$template_variables" <"/etc/nginx/templates/$template" >>"$RENDERED/$template"; done
}

# leave_out TEMPLATE: the settings need none of it.
leave_out() { : >>"$RENDERED/$1"; }
