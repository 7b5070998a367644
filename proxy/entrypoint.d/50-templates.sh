#!/bin/sh
# Fills the settings into the templates. Only the named variables: Nginx's own begin with $ as well.
set -eu

[ "$HTTPS_PORT" = 443 ] && REDIRECT_PORT='' || REDIRECT_PORT=:$HTTPS_PORT
# shellcheck disable=SC2153 # set by entrypoint.sh
case $SERVER_NAME in
  localhost | 127.0.0.1) SERVED_NAMES="localhost 127.0.0.1 [::1]" ;;
  *) SERVED_NAMES="localhost 127.0.0.1 [::1] $SERVER_NAME" ;;
esac
export REDIRECT_PORT SERVED_NAMES

for template in /etc/nginx/templates/*.conf; do
  # shellcheck disable=SC2016 # envsubst wants the names, not the values
  envsubst '$TUNNEL_PATH $TUNNEL_CLIENT_IP $SERVED_NAMES $WEB_UPSTREAM $REDIRECT_PORT' <"$template" >"$RENDERED/${template##*/}"
done
