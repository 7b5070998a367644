# shellcheck shell=sh disable=SC2034
# Each of WEB_PREVIOUS_UPSTREAMS becomes a route to an earlier release (templates/previous).

SLOT=0
set -f
for PREVIOUS_UPSTREAM in $(without_commas "$WEB_PREVIOUS_UPSTREAMS"); do
  is_host_and_port "$PREVIOUS_UPSTREAM" ||
    refuse WEB_PREVIOUS_UPSTREAMS "'$PREVIOUS_UPSTREAM' is not name:port" "use the address of an earlier release, such as web-previous:3000"
  SLOT=$((SLOT + 1))
  mkdir "$RENDERED/previous/$SLOT"
  render previous/route.conf "previous/route-$SLOT.conf"
done
set +f
