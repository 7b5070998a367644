#!/bin/sh
# verify.sh [NAMESPACE]: checks a deployment from inside its cluster, one line per check; status 1 if a check failed. Uses kubectl's
# current context and needs permission to exec into pods. It sends empty client reports, which Sentry does not show. PAGE is a page of
# the app (default /), PROMETHEUS the Service of Prometheus as namespace/name:port.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=../host/lib.sh
. "$here/../host/lib.sh"

namespace=${1:-culvert}
prometheus=${PROMETHEUS:-monitoring/prometheus-operated:9090}
has kubectl || die "kubectl: not found: install it (https://kubernetes.io/docs/tasks/tools/)"
failed=0

k() { kubectl -n "$namespace" "$@"; }
result() { printf '%-8s %s\n' "$1" "$2"; }
ok() { result ok "$1"; }
skipped() { result skipped "$1"; }
fail() { failed=1; result FAILED "$1"; }

# exists OBJECT: whether the namespace has OBJECT and kubectl may read it.
exists() { k get "$1" -o name >/dev/null 2>&1; }
# pod NAME: prints one running pod of a workload.
pod() { k get pods -l "app.kubernetes.io/name=$1" --field-selector=status.phase=Running -o 'jsonpath={.items[0].metadata.name}' 2>/dev/null; }
in_proxy() { k exec "$proxy" -c proxy -- "$@" 2>/dev/null; }
in_web() { k exec "$web" -c web -- node -e "$1" 2>/dev/null; }
# request PATH [CURL-OPTION...]: prints the proxy's status for PATH, over TLS and by its own name. An envelope is on standard input; the
# DSN in it does not leave the pod. The trace is not sampled (-0), so that Sentry's SDK in the app records nothing of the request.
request() {
  path=$1; shift
  # shellcheck disable=SC2016 # variables of the shell in the pod
  in_proxy sh -c 'site=${SERVER_NAME:-localhost} path=$1; shift
    [ "${PROXY_PROTOCOL:-off}" != on ] || set -- --haproxy-protocol "$@"
    printf "{\"dsn\":\"%s\"}\n{\"type\":\"client_report\"}\n{\"timestamp\":%s,\"discarded_events\":[]}\n" "$SENTRY_DSN" "$(date +%s)" |
      curl -sk -m 20 -o /dev/null -w "%{http_code}" --resolve "$site:8443:127.0.0.1" "$@" \
      -H "sentry-trace: $(tr -d - </proc/sys/kernel/random/uuid)-0123456789abcdef-0" "https://$site:8443$path"' request "$path" "$@"
}
accepted() { in_proxy curl -s http://127.0.0.1:8081/metrics | sed -n 's/^culvert_tunnel_envelopes_total{outcome="accepted".*} //p' | awk '{ n += $1 } END { printf "%.0f", n }'; }
# connection URL: prints `open` or `closed`, depending on whether web can connect to the URL's port; nothing if web could not try. URL is
# a JavaScript expression.
connection() {
  in_web "const { hostname, port } = new URL($1); const end = (state) => { console.log(state); process.exit(); };
    const s = require('net').connect(port, hostname.replace(/^\[|\]\$/g, ''));
    s.on('connect', () => end('open')); s.on('error', () => end('closed')); setTimeout(end, 5000, 'closed')" || true
}

rollouts() {
  found=$(k get deployment,statefulset -l app.kubernetes.io/part-of=culvert -o name 2>/dev/null) ||
    fail "workloads: cannot be listed: kubectl -n $namespace get deployment,statefulset"
  for workload in $found; do
    if k rollout status "$workload" --timeout=10s >/dev/null 2>&1; then ok "$workload: rolled out"
    else fail "$workload: not rolled out: kubectl -n $namespace describe $workload"; fi
  done
}
pages() {
  status=$(request "$page") || true
  case $status in
    2?? | 3?? | 401 | 403) ok "page $page: $status" ;;
    *) fail "page $page: ${status:-no answer}: kubectl -n $namespace logs deployment/web" ;;
  esac
  status=$(request "${base}/culvert-verify-no-such-page") || true
  case $status in
    404) ok "unknown page: 404" ;;
    3?? | 401 | 403) skipped "unknown page: $status: the app redirects it or requires a login" ;;
    *) fail "unknown page: ${status:-no answer}, not 404" ;;
  esac
}
tunnel() {
  before=$(accepted)
  status=$(request "$path" -H "Content-Type: text/plain" --data-binary @-) || true
  if [ "$status" != 200 ]; then fail "envelope: ${status:-no answer}, not 200: kubectl -n $namespace logs deployment/proxy"
  elif [ "$(accepted)" -gt "$before" ] || { sleep 1; [ "$(accepted)" -gt "$before" ]; }; then ok "envelope: acknowledged by the ingest"
  else fail "envelope: accepted, but not acknowledged by the ingest: is it up, and may the proxy reach it?"; fi
  status=$(request "$path?o=1&p=1" -H "Content-Type: text/plain" --data-binary @-) || true
  if [ "$status" = 403 ]; then ok "envelope for a foreign project: 403"; else fail "envelope for a foreign project: ${status:-no answer}, not 403"; fi
}
policies() {
  if ! exists networkpolicy/default-deny; then skipped "network policies: the component network-policy is not used"; return; fi
  address=$(k get "pod/$proxy" -o 'jsonpath={.status.podIP}')
  case $address in *:*) address="[$address]" ;; esac
  case $(connection process.env.SERVER_TUNNEL),$(connection "'http://$address:8081'") in
    open,closed) ok "network policies: enforced" ;;
    open,open) fail "network policies: not enforced: web reaches the proxy's port for probes: does the network plugin support NetworkPolicy?" ;;
    closed,*) fail "network policies: web does not reach the proxy's port for the server's events" ;;
    *) fail "network policies: could not be checked: kubectl -n $namespace exec $web -c web -- node --version" ;;
  esac
}
spool() {
  if ! exists statefulset/spool; then skipped "spool: the component spool is not used"; return; fi
  # shellcheck disable=SC2016 # JavaScript
  status=$(k exec spool-0 -c spool -- node -e '
    const { protocol, host, pathname } = new URL(process.env.SENTRY_DSN);
    const to = `${protocol}//${host}${pathname.replace(/\/(\d+)$/, "/api/$1/envelope/")}`;
    const body = `{}\n{"type":"client_report"}\n{"timestamp":${Date.now() / 1000},"discarded_events":[]}\n`;
    const headers = { "x-spool-destination": to, "content-type": "text/plain" };
    fetch("http://127.0.0.1:8082/", { method: "POST", headers, body }).then((r) => console.log(r.status));' 2>/dev/null) || true
  if [ "$status" = 200 ]; then ok "spool: writes to its volume"; else fail "spool: ${status:-no answer}, not 200: kubectl -n $namespace logs spool-0"; fi
}
metrics() {
  if in_proxy curl -s http://127.0.0.1:8081/metrics | grep -q '^culvert_requests_total'; then ok "metrics: available"; else fail "metrics: none on the proxy's port 8081"; fi
  if ! exists podmonitor/proxy; then skipped "metrics scraped: the component monitoring is not used"; return; fi
  service=${prometheus#*/}
  query="/api/v1/namespaces/${prometheus%%/*}/services/$service/proxy/api/v1/query?query=up%7Bnamespace%3D%22$namespace%22%7D%3D%3D1"
  if kubectl get --raw "$query" 2>/dev/null | grep -q '"value"'; then ok "metrics scraped by $prometheus"
  else fail "metrics: not scraped by $prometheus (set PROMETHEUS if it is another one)"; fi
}
autoscalers() {
  found=$(k get hpa -o name 2>/dev/null) || true
  [ -n "$found" ] || skipped "autoscaling: the component autoscaling is not used"
  for scaler in $found; do
    active=$(k get "$scaler" -o 'jsonpath={.status.conditions[?(@.type=="ScalingActive")].status}')
    if [ "$active" = True ]; then ok "$scaler: has metrics"; else fail "$scaler: no metrics: is metrics-server installed? kubectl -n $namespace describe $scaler"; fi
  done
}
spread() {
  # Schedulable nodes only, without control planes and cordoned nodes.
  nodes=$(kubectl get nodes -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.taints[*].effect}{"\n"}{end}' 2>/dev/null |
    awk '/./ && !/ (NoSchedule|NoExecute)/ { n++ } END { print n + 0 }')
  for name in web proxy; do
    on=$(k get pods -l "app.kubernetes.io/name=$name" --field-selector=status.phase=Running -o 'jsonpath={range .items[*]}{.spec.nodeName}{"\n"}{end}')
    pods=$(printf '%s\n' "$on" | wc -l) used=$(printf '%s\n' "$on" | sort -u | wc -l)
    if [ "$nodes" -lt 2 ] || [ "$pods" -lt 2 ]; then skipped "$name: one node or one pod: a lost node stops all of them"
    elif [ "$used" -ge 2 ]; then ok "$name: on $used nodes"
    else fail "$name: all on one node: kubectl -n $namespace rollout restart deployment/$name"; fi
  done
}

proxy=$(pod proxy) || true
web=$(pod web) || true
if [ -z "$proxy" ] || [ -z "$web" ]; then die "NAMESPACE: '$namespace' has no running proxy and web: kubectl -n $namespace get pods"; fi
base=$(in_proxy printenv BASE_PATH) || true
page=$base${PAGE:-/}
path=$(in_proxy printenv TUNNEL_PATH) || true
path=${path:-/monitoring}
rollouts; pages; tunnel; policies; spool; metrics; autoscalers; spread
exit "$failed"
