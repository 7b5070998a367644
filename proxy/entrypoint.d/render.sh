# shellcheck shell=sh disable=SC2016,SC2034
# What of the templates is rendered, and when.

# Fills in each ${NAME}; variables of Nginx are in lower case. Operands are `file=FILE TEMPLATE`. One process for all
# templates, because on a busy node a start takes as long as its processes.
fill='{
  line = ""
  while (match($0, /[$][{][A-Z][A-Z0-9_]*[}]/)) {
    name = substr($0, RSTART + 2, RLENGTH - 3)
    if (!(name in ENVIRON)) {
      print "culvert proxy: " FILENAME " has ${" name "}, which nothing sets: correct the name" >"/dev/stderr"
      exit 1
    }
    line = line substr($0, 1, RSTART - 1) ENVIRON[name]
    $0 = substr($0, RSTART + RLENGTH)
  }
  print line $0 >file
}'

# render TEMPLATE FILE
render() { awk "$fill" "file=$RENDERED/$2" "/etc/nginx/templates/$1"; }

is_needed() {
  case $1 in
    spool-upstream.conf | forward-to-spool.conf | routes/spool.conf) [ -n "$SPOOL_UPSTREAM" ] ;;
    routes/acme-challenge.conf) [ "$ACME" = on ] ;;
    websocket.conf) [ -n "$WEBSOCKET_PATH" ] ;;
  esac
}

# render_all: renders each template that the settings need, and leaves an empty file in place of any other. Of the
# folders web-on and web-off, WEB selects one.
render_all() {
  [ -n "$SPOOL_UPSTREAM" ] && ENVELOPE_FALLBACK=@spool || ENVELOPE_FALLBACK=@envelope_failed
  set +f --
  folder=/etc/nginx/templates
  for template in "$folder"/*.conf "$folder"/routes/*.conf "$folder/web-$WEB"/*.conf; do
    name=${template#"$folder/"} name=${name#web-*/}
    if is_needed "$name"; then set -- "$@" "file=$RENDERED/$name" "$template"; else : >"$RENDERED/$name"; fi
  done
  awk "$fill" "$@"
}
