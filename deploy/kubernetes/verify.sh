#!/bin/sh
# verify.sh: runs verify/ as a Job in the deployment's namespace and prints its lines; status 1 if a check failed. It
# also says which objects differ from OVERLAY: a name below overlays/, or a folder; production, if NAMESPACE is not set
# either. With NAMESPACE alone, as for a chart's release, no overlay is compared. PAGE, PROMETHEUS, WAIT_S, INSTANCE,
# EXPECT: see ../checks/verify-cluster.ts. IMAGE: an image with Node, if there is no spool.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../lib.sh
. "$here/../lib.sh"
has kubectl || die "kubectl: not found: install it (https://kubernetes.io/docs/tasks/tools/)"

overlay=${OVERLAY:-}
[ -n "$overlay${NAMESPACE:-}" ] || overlay=production
[ -z "$overlay" ] || [ -d "$overlay" ] || overlay=$here/overlays/$overlay
[ -z "$overlay" ] || [ -e "$overlay/kustomization.yaml" ] ||
  die "OVERLAY: there is no '$OVERLAY': use an overlay's name or folder"
namespace=${NAMESPACE:-$([ -z "$overlay" ] || sed -n 's/^namespace: *\([^ ]*\).*/\1/p' "$overlay/kustomization.yaml")}
namespace=${namespace:-culvert}

# first KIND NAME FIELD: the name of the namespace's first workload of this role, and a field of its pods.
first() {
  labels=app.kubernetes.io/part-of=culvert,app.kubernetes.io/name=$2${INSTANCE:+,app.kubernetes.io/instance=$INSTANCE}
  kubectl -n "$namespace" get "$1" -l "$labels" \
    -o "jsonpath={.items[0].metadata.name} {.items[0].spec.template.spec$3}" 2>/dev/null || true
}
proxy=$(first deployment proxy .imagePullSecrets)
[ -n "${proxy%% *}" ] ||
  die "NAMESPACE: '$namespace' has no Deployment proxy: kubectl -n $namespace get deployments, or NAMESPACE=<another>"
spool=$(first statefulset spool '.containers[?(@.name=="spool")].image')
secrets=${proxy#* }
image=${IMAGE:-${spool#* }}
[ -n "$image" ] ||
  die "IMAGE: not set, and '$namespace' has no StatefulSet spool: IMAGE=<an image with Node 24, such as culvert-spool>"

work=$here/../../.culvert/verify
mkdir -p "$work"

# CHANGED: all that differs from the overlay, as KIND/NAME; MISSING: those of which the cluster has nothing.
[ -z "$overlay" ] || kubectl diff --server-side --force-conflicts -k "$overlay" >"$work/diff" 2>&1 || true
object='s|^diff .*/MERGED-[0-9]*/.*[.]\([A-Z][A-Za-z]*\)[.][^.]*[.]\(.*\)|\1/\2|'
CHANGED=$([ -z "$overlay" ] || sed -n "${object}p" "$work/diff" | paste -sd ' ' -)
MISSING=$([ -z "$overlay" ] ||
  sed -n -e "$object; t name" -e '/^@@ -0,0 /{ x; p; }' -e b -e ':name' -e h "$work/diff" | paste -sd ' ' -)
[ -z "$overlay" ] || [ -n "$CHANGED" ] || [ ! -s "$work/diff" ] ||
  die "objects could not be compared: $(head -n 1 "$work/diff")"
cat >"$work/kustomization.yaml" <<YAML
namespace: $namespace
resources: [../../deploy/kubernetes/verify]
configMapGenerator:
  - name: culvert-verify-options
    literals: ["PAGE=${PAGE:-}", "PROMETHEUS=${PROMETHEUS:-}", "INSTANCE=${INSTANCE:-}", "WAIT_S=${WAIT_S:-}",
      "EXPECT=${EXPECT:-}", "MISSING=$MISSING", "CHANGED=$CHANGED"]
patches:
  - target: { kind: Job }
    patch: |-
      - { op: replace, path: /spec/template/spec/containers/0/image, value: "$image" }
      - { op: add, path: /spec/template/spec/imagePullSecrets, value: ${secrets:-[]} }
YAML
kubectl delete --ignore-not-found -k "$work" >/dev/null
trap 'kubectl delete --ignore-not-found --wait=false -k "$work" >/dev/null' EXIT
kubectl apply -k "$work" >/dev/null
# Until its container has started, there is no log, but an error that says so.
for _ in $(seq 60); do
  kubectl -n "$namespace" logs --follow --pod-running-timeout=2m job/culvert-verify 2>"$work/error" |
    tee "$work/log" || true
  grep -q 'waiting to start' "$work/error" || break
  sleep 2
done
case $(tail -n 1 "$work/log") in
  "culvert: all is well"*) ;;
  culvert:*) exit 1 ;;
  *) die "verify: the Job ended early or did not start: IMAGE is $image:" \
    "kubectl -n $namespace describe pod -l app.kubernetes.io/name=culvert-verify" ;;
esac
