# shellcheck shell=sh disable=SC2016,SC2034
# What of the templates is rendered, and when.

# The names in all templates; Nginx's own variables are in lower case.
all_names=$(grep -rhoE '\$\{[A-Z][A-Z0-9_]*\}' /etc/nginx/templates)

# render TEMPLATE [FILE]: writes the template to FILE of $RENDERED, with its ${NAME}s filled in.
render() { envsubst "$all_names" <"/etc/nginx/templates/$1" >"$RENDERED/${2:-$1}"; }

# is_needed TEMPLATE
is_needed() {
  case $1 in
    spool-upstream.conf | forward-to-spool.conf | routes/spool.conf) [ -n "$SPOOL_UPSTREAM" ] ;;
    routes/acme-challenge.conf) [ "$ACME" = on ] ;;
    routes/websocket.conf) [ -n "$WEBSOCKET_PATH" ] ;;
  esac
}

# render_all: renders each template that the settings need, and leaves an empty file in place of any other.
render_all() {
  [ -n "$SPOOL_UPSTREAM" ] && ENVELOPE_FALLBACK=@spool || ENVELOPE_FALLBACK=@envelope_failed
  for template in $(cd /etc/nginx/templates && echo ./*.conf routes/*.conf); do
    if is_needed "${template#./}"; then render "$template"; else : >"$RENDERED/$template"; fi
  done
}
