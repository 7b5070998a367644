#!/bin/sh
# verify.sh [--json]: checks a deployment in a cluster with kubectl, a line for each check; status 1 if one failed.
# Needs Node 24, or Docker. NAMESPACE (default: culvert); INSTANCE, a release's name, if the namespace has several;
# WAIT_S, how long pods may take (default: 300); RENDERED, a file of `make render` that the cluster must equal;
# PROMETHEUS, name.namespace.svc:port; IMAGE, for Docker, an image with Node 24.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../../lib.sh
. "$here/../../lib.sh"
has kubectl || die "kubectl: not found: install it (https://kubernetes.io/docs/tasks/tools/)"
export NAMESPACE="${NAMESPACE:-culvert}" INSTANCE="${INSTANCE:-}"
export PROMETHEUS="${PROMETHEUS:-prometheus-operated.monitoring.svc:9090}"
[ -z "${RENDERED:-}" ] || [ -r "$RENDERED" ] || die "RENDERED: there is no $RENDERED: make render VALUES=<your values>"
# Facts have settings of the pods: for this user's eyes only.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

label=app.kubernetes.io/part-of=culvert${INSTANCE:+,app.kubernetes.io/instance=$INSTANCE}
kinds=deployments,statefulsets,pods,services,networkpolicies
cluster() { kubectl --namespace "$NAMESPACE" "$@"; }
# section NAME COMMAND...: prints the command's output below its name, and its stderr if it failed.
section() {
  section=$1
  shift
  printf '\n== %s\n' "$section"
  "$@" 2>"$work/error" || { printf '\n== error %s\n' "$section" && cat "$work/error"; }
}
# evaluate [OPTION]: reads facts and prints lines, with this machine's Node, else in a container.
evaluate() {
  if node -e 'process.exit(+(parseInt(process.versions.node) < 24))' 2>/dev/null; then node "$here/verify.ts" "$@"; else
    image='jsonpath={.items[0].spec.template.spec.containers[0].image}'
    : "${IMAGE:=$(cluster get statefulset -l "$label" -o "$image" </dev/null)}"
    docker run --rm --interactive --network=none --read-only --volume "$here/..:/checks:ro" --env NAMESPACE \
      --env INSTANCE --env PROMETHEUS --entrypoint node "$IMAGE" /checks/cluster/verify.ts "$@"
  fi
}

# The plan says what to ask which pod. 75: waiting may help, and standard error says for what.
: >"$work/waited"
end=$(($(date +%s) + ${WAIT_S:-300}))
while :; do
  section objects cluster get "$kinds" -l "$label" -o json --show-managed-fields >"$work/facts"
  section nodes kubectl get nodes -o json >>"$work/facts"
  status=0
  evaluate --plan <"$work/facts" >"$work/plan" 2>"$work/waits" || status=$?
  cmp -s "$work/waits" "$work/waited" || cat "$work/waits" >&2
  mv "$work/waits" "$work/waited"
  if [ "$status" -ne 75 ] || [ "$(date +%s)" -ge "$end" ]; then break; fi
  sleep 2
done
[ "$status" -eq 0 ] || [ "$status" -eq 75 ] || exit "$status"

[ -z "${RENDERED:-}" ] || section diff cluster diff --server-side --force-conflicts -f "$RENDERED" >>"$work/facts"
while read -r role name more; do
  case $role in
    get) section "$name" cluster get --raw "$more" </dev/null ;;
    proxy) section proxy cluster exec --stdin "$name" -c proxy -- sh -s -- "$more" <"$here/ask-proxy.sh" ;;
    *) section "$role" cluster exec --stdin "$name" -c "$role" -- node --input-type=module - "$more" <"$here/ask.mjs" ;;
  esac
done <"$work/plan" >>"$work/facts"
evaluate "$@" <"$work/facts"
