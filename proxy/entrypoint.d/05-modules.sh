#!/bin/sh
# njs is needed; brotli is used where the image has it (Nginx's own image does not).
set -eu

modules=/usr/lib/nginx/modules
echo "load_module $modules/ngx_http_js_module.so;" >"$RENDERED/modules.conf"
: >"$RENDERED/brotli.conf"
echo 'gzip off;' >"$RENDERED/plain.conf"

if [ -e "$modules/ngx_http_brotli_filter_module.so" ]; then
  echo "load_module $modules/ngx_http_brotli_filter_module.so;" >>"$RENDERED/modules.conf"
  echo 'brotli off;' >>"$RENDERED/plain.conf"
  cat >"$RENDERED/brotli.conf" <<CONF
brotli on;
brotli_comp_level 4;
brotli_min_length 500;
brotli_types text/plain text/css text/x-component text/xml application/javascript text/javascript application/json application/manifest+json application/xml application/rss+xml image/svg+xml;
CONF
fi
