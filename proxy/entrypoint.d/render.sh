# shellcheck shell=sh
# Sourced by the steps.

# The settings, and what steps derive from them. Only these are filled in: Nginx's own variables begin with $ as well.
# shellcheck disable=SC2016 # envsubst wants the names, not the values
template_variables='$WORKERS $WORKER_CONNECTIONS $WORKER_FILES $LOAD_BROTLI $NAME_SERVERS $REAL_IP_FROM $REAL_IP_HEADER $TRUSTED_NETWORKS $TRUSTED_BY_DEFAULT
  $OTHERS_ARE_INTERNAL $INTERNAL_SUBNET $REQUEST_ID_TRUST
  $INGEST_CA_FILE $ENVELOPE_FALLBACK $SPOOL_UPSTREAM
  $TUNNEL_PATH $TUNNEL_CLIENT $TUNNEL_RATE_PER_CLIENT $TUNNEL_RATE_TOTAL
  $REQUEST_RATE $REQUEST_RATE_PER_SECOND $LIMIT_PUBLIC_CLIENTS $LIMIT_PRIVATE_CLIENTS
  $MAX_CONCURRENT_REQUESTS $MAX_REQUESTS_OF_SITE $MAX_AT_WEB_OF_CLIENT $MAX_AT_WEB_OF_SITE
  $MAX_CONCURRENT_PAGES_PER_REPLICA $MAX_PREFETCHES_PER_REPLICA $PAGE_UPSTREAM $WEB_FALLBACK_PAGES
  $SERVED_NAMES $REDIRECT_PORT $PROXY_PROTOCOL_PARAMETER $HTTP3_LISTEN $HTTP3_LISTEN_DEFAULT $ALT_SVC $HSTS $CONTENT_SECURITY_POLICY
  $WEB_UPSTREAM $WEB_FALLBACK $BASE_PATH $HEALTH_PATH $WEBSOCKET_PATH $MAX_BODY_SIZE $RESPONSE_TIMEOUT $ASSET_RETENTION'

# render TEMPLATE...: appends each template, filled in with exported variables, to the file of the same name in $RENDERED.
render() {
  for template; do envsubst "$template_variables" <"/etc/nginx/templates/$template" >>"$RENDERED/$template"; done
}

# leave_out TEMPLATE: the settings need none of it.
leave_out() { : >>"$RENDERED/$1"; }
