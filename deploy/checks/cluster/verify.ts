// Checks what verify.sh has collected, a line for each check; exit code 1 if one failed. With --plan: prints what to ask which pod; exit code
// 75 if waiting may help.
import { text } from "node:stream/consumers";
import { limits } from "../limits.ts";
import { failed, finish, type Result, report, skipped, warning } from "../result.ts";
import { checkAutoscalers, checkDsn, checkMetrics, checkPolicies, checkRendered, checkSpread } from "./cluster.ts";
import { type Answer, addressOf, answerOf, Facts, INSTANCE, type Item, namespace, PROMETHEUS, role } from "./facts.ts";
import { checkEnvelopes, checkHop, checkService, checkSite } from "./hops.ts";
import { checkNodes, checkWorkloads } from "./workloads.ts";

const isFailed = ({ state }: Result) => state === "failed";
const unresolved = failed("DNS", "pods resolve no names", "is CoreDNS up, and do the NetworkPolicies allow it?");

/** The lines by which verify.sh asks. */
export function plan(facts: Facts): string[] {
  const [proxy] = facts.serving("proxy");
  const spools = facts.serving("spool").map(addressOf).join() || "-";
  const own = (pod: Item) => pod.spec.containers.find(({ name }: { name: string }) => name === role(pod));
  const secret =
    proxy && own(proxy)?.env?.find(({ name }: { name: string }) => name === "SENTRY_DSN")?.valueFrom?.secretKeyRef;
  const [service, space, , port] = PROMETHEUS.split(/[.:]/);
  const query = encodeURIComponent(`up{namespace="${namespace}"}==1`);
  const others = (pod: Item) => (role(pod) === "proxy" ? spools : (proxy?.status.podIP ?? "-"));
  return [
    ...facts.asked().map((pod) => `${role(pod)} ${pod.metadata.name} ${others(pod)}`),
    ...(secret ? [`secret ${secret.name}`] : []),
    `get monitors /apis/monitoring.coreos.com/v1/namespaces/${namespace}/podmonitors`,
    `get prometheus /api/v1/namespaces/${space}/services/${service}:${port}/proxy/api/v1/query?query=${query}`,
  ];
}

/** All checks of these facts. */
export function check(facts: Facts): Result[] {
  const allow = (verb: string, resource = "…") =>
    `kubectl -n ${namespace} create role culvert-verify --verb=${verb} --resource=${resource}, and a rolebinding`;
  const unread = ["objects", "nodes"].flatMap((name) =>
    facts
      .section(`error ${name}`)
      .split("\n")
      .filter(Boolean)
      .map((line) => warning("cluster", line, allow("list", /(\w+)(?:\.[\w.]+)? is forbidden/.exec(line)?.[1]))),
  );
  const nothing = failed("cluster", `nothing of Culvert's in the namespace ${namespace}`, "NAMESPACE=<another>");
  if (facts.items.length === 0) return [...unread, nothing];
  const releases = new Set(facts.workloads().map(({ metadata }) => metadata.labels?.["app.kubernetes.io/instance"]));
  const several = `the namespace has several releases: ${[...releases].join(", ")}`;
  if (releases.size > 1 && !INSTANCE) return [failed("INSTANCE", several, "name the one to check")];

  const { results: states } = checkWorkloads(facts);
  const answers = facts.asked().flatMap((pod) => answerOf(facts, pod));
  const unasked = facts
    .asked()
    .filter((pod) => !answers.some((one) => one.pod === pod))
    .map(({ metadata: { name } }) => {
      const [why] = facts.section(`error ${name}`).split("\n");
      return warning(name, `cannot be asked: ${why || "no answer"}`, allow("create", "pods/exec"));
    });
  const before = [...unread, ...checkRendered(facts), ...checkNodes(facts), ...states, ...unasked];
  if (answers.length === 0) return [...before, failed("hops", "none could be asked", "see the lines above")];
  const [proxy, web] = ["proxy", "web"].map((name) => answers.find(({ pod }) => role(pod) === name));
  return [
    ...before,
    ...checkDsn(facts, answers),
    ...(proxy ? ofProxy(facts, proxy) : []),
    ...(proxy && web ? hops(facts, web, { proxy: ["SERVER_TUNNEL"], spool: ["SPOOL_UPSTREAM"] }) : []),
    ...(proxy ? [...limits(proxy.settings), ...checkMetrics(facts, proxy)] : []),
    ...checkPolicies(facts, answers),
    ...checkAutoscalers(facts, down(states)),
    ...checkSpread(facts),
  ];
}
const down = (states: Result[]) => states.filter(({ state }) => state !== "ok").map((one) => one.check);

/** The hops of a pod, by the role that it asks. A role without a serving pod has a line of its own that says why. */
const hops = (facts: Facts, answer: Answer, variables: Record<string, string[]>): Result[] =>
  answer.dns !== 0
    ? [unresolved]
    : Object.entries(variables).flatMap(([name, own]) =>
        facts.serving(name).length ? own.flatMap((variable) => checkHop(facts, answer, variable)) : [],
      );

function ofProxy(facts: Facts, answer: Answer): Result[] {
  if (answer.dns !== 0) return [unresolved];
  const web = hops(facts, answer, { web: ["WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM"] });
  const more = hops(facts, answer, { web: ["WEB_CURRENT"], "web-previous": ["WEB_PREVIOUS"] });
  const spool = hops(facts, answer, { spool: ["SPOOL_UPSTREAM", "SPOOL_FALLBACK_UPSTREAM"] });
  const name = facts.of("Deployment").find((one) => role(one) === "proxy")?.metadata.name ?? "proxy";
  const entry = facts.of("Service").find(({ metadata }) => metadata.name === name);
  const isWaiting = entry?.spec.type === "LoadBalancer" && !entry.status?.loadBalancer?.ingress?.length;
  return [
    ...[...web, ...more, ...spool, ...checkService(facts, name)],
    ...(isWaiting ? [skipped(`Service ${name}`, "the load balancer has no address yet")] : []),
    ...checkSite(answer, web.length > 0 && !web.some(isFailed)),
    ...checkEnvelopes(answer, spool.some(isFailed) ? [] : facts.serving("spool")),
  ];
}

if (import.meta.main) {
  const facts = new Facts(await text(process.stdin));
  if (process.argv.includes("--plan")) {
    console.log(plan(facts).join("\n"));
    const { results, isPending } = checkWorkloads(facts);
    const waits = !results.some(isFailed) && checkAutoscalers(facts, down(results)).some(isFailed);
    process.exitCode = isPending || waits ? 75 : 0;
  } else {
    report(check(facts));
    finish();
  }
}
