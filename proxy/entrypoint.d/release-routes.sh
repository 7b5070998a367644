# shellcheck shell=sh disable=SC2034
# Each of WEB_PREVIOUS_UPSTREAMS, and WEB_CURRENT_UPSTREAM, becomes a route to the release that runs there
# (templates/releases).

SLOT=0 WEB_PREVIOUS_UPSTREAMS=$(without_commas "$WEB_PREVIOUS_UPSTREAMS")
set -f
for RELEASE_UPSTREAM in $WEB_PREVIOUS_UPSTREAMS $WEB_CURRENT_UPSTREAM; do
  is_host_and_port "$RELEASE_UPSTREAM" ||
    refuse WEB_PREVIOUS_UPSTREAMS "'$RELEASE_UPSTREAM' is not name:port" \
      "use the address of an earlier release, such as web-previous:3000"
  SLOT=$((SLOT + 1))
  mkdir "$RENDERED/releases/$SLOT"
  render releases/route.conf "releases/route-$SLOT.conf"
done
set +f
