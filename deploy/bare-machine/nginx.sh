#!/bin/sh
# Builds nginx:VERSION from Debian sid's Nginx, with the layout of the official image. Usage: nginx.sh nginx:1.30
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
. "$here/apt.sh"
. "$here/debian.sh"
. "$here/rootfs.sh"

SUITE=sid # the only suite with Nginx >= 1.29, which the proxy's configuration needs
PACKAGES=nginx,libnginx-mod-http-js,libnginx-mod-stream,gettext-base,openssl,curl,ca-certificates

start_recipe "$1"
wanted=${image#nginx:}
bootstrap "$SUITE" "$PACKAGES"

version=$(sed -n '/^Package: nginx$/,/^$/s/^Version: \([0-9.]*\).*/\1/p' "$root/var/lib/dpkg/status")
case $version in
  "$wanted" | "$wanted".*) ;;
  *) die "$image: Debian $SUITE has nginx $version now:" \
    "change the FROM line of proxy/Dockerfile to ${version%.*} after reading its changes" ;;
esac

# The official image's layout: modules under the prefix, a default site in conf.d, logs to the container's streams.
ln -sfn /usr/lib/nginx/modules "$root/etc/nginx/modules"
rm -rf "$root/etc/nginx/sites-available" "$root/etc/nginx/sites-enabled"
# The official binary has stream built in (deploy/front); what else is dynamic there, a configuration loads itself.
find "$root/etc/nginx/modules-enabled" ! -type d ! -name '*-mod-stream.conf' -delete
mkdir -p "$root/etc/nginx/conf.d" "$root/var/cache/nginx"
ln -sf /dev/stdout "$root/var/log/nginx/access.log"
ln -sf /dev/stderr "$root/var/log/nginx/error.log"
cp "$here/nginx.conf" "$root/etc/nginx/nginx.conf"
add_user nginx 101
chown 101:101 "$root/var/cache/nginx"

import_as 'nginx -t -q' --change 'CMD ["nginx","-g","daemon off;"]' --change 'STOPSIGNAL SIGQUIT' \
  --change 'EXPOSE 80' --change "ENV NGINX_VERSION=$version"
