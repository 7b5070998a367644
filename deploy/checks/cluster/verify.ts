// Checks what verify.sh has collected, a line for each check. --plan: prints what to ask which pod; exit code 75 if waiting may help.
import { text } from "node:stream/consumers";
import { failed, finish, ok, type Result, report, skipped, warning } from "../result.ts";
import { checkManagers, checkRendered } from "./drift.ts";
import { type Answer, answerOf, type Facts, INSTANCE, logs, namespace, PROMETHEUS, parseFacts, plan } from "./facts.ts";
import { checkEnvelopes, checkHop, checkService } from "./hops.ts";
import { checkWorkloads } from "./workloads.ts";

const isFailed = ({ state }: Result) => state === "failed";
// Pods take a changed Secret when they restart. A spool refuses the proxy's envelope.
const restart = `kubectl -n ${namespace} rollout restart deployment -l app.kubernetes.io/part-of=culvert`;
const another = failed("DSN", "web has another one than the proxy", restart);

/** All checks of these facts. */
export function check(facts: Facts): Result[] {
  const refused = ["objects", "nodes", "proxy", "web"].flatMap((name) => facts.lines(`error ${name}`)).map(refusal);
  const nothing = failed("cluster", `nothing of Culvert's in the namespace ${namespace}`, "NAMESPACE=<another>");
  if (facts.items.length === 0) return [...refused, nothing];
  const releases = new Set(facts.workloads.map(({ metadata }) => metadata.labels?.["app.kubernetes.io/instance"]));
  const several = `the namespace has several releases: ${[...releases].join(", ")}`;
  if (releases.size > 1 && !INSTANCE) return [failed("INSTANCE", several, "name the one to check")];
  const { results: states } = checkWorkloads(facts);
  const [proxy, web] = [answerOf(facts, "proxy"), answerOf(facts, "web")];
  const before = [...refused, ...checkRendered(facts), ...checkManagers(facts), ...states];
  if (!proxy && !web)
    return states.some(isFailed) ? before : [...before, failed("hops", "none could be asked", "see the lines above")];
  return [
    ...before,
    ...(proxy ? ofProxy(facts, proxy) : []),
    ...(proxy && web && proxy.settings.SENTRY_DSN !== web.settings.SENTRY_DSN ? [another] : []),
    ...(proxy && web ? hops(facts, web, { proxy: ["SERVER_TUNNEL"], spool: ["SPOOL_UPSTREAM"] }) : []),
    ...(proxy ? checkMetrics(facts, proxy) : []),
    checkPolicies(facts, proxy && web),
  ];
}

/** What kubectl may not do, with the command that would allow it. */
function refusal(line: string): Result {
  const [, verb, resource] = /cannot (\w+) resource "([\w/]+)"/.exec(line) ?? [];
  const allow = `kubectl -n ${namespace} create role culvert-verify --verb=${verb} --resource=${resource}, and a rolebinding`;
  return warning("cluster", line, verb ? allow : "does kubectl work?");
}

/** Checks whether the network plugin enforces policies: only kubelet and Prometheus may reach the proxy's port for probes. */
function checkPolicies(facts: Facts, web?: Answer): Result {
  const check = "network policies";
  if (facts.of("NetworkPolicy").length === 0) return skipped(check, "not used");
  if (web?.isReached === undefined) return skipped(check, "web could not try the proxy's port for probes");
  const found = "not enforced: web reaches the proxy's port for probes";
  return web.isReached ? failed(check, found, "does the network plugin support NetworkPolicy?") : ok(check, "enforced");
}

/** Checks whether the proxy has metrics, and Prometheus scrapes them. */
function checkMetrics(facts: Facts, { metrics }: Answer): Result[] {
  if (!metrics) return [failed("metrics", "none on port 8081", logs("proxy"))];
  const [own, check, found] = [ok("metrics", "available"), "scraped metrics", facts.lines("prometheus").join()];
  if (!found) return [own, skipped(check, `${PROMETHEUS} is not reached: set PROMETHEUS to its address`)];
  const fix = "monitoring.enabled, and the label that its podMonitorSelector wants, such as release";
  return [own, found.includes('"value"') ? ok(check, `by ${PROMETHEUS}`) : warning(check, `not by ${PROMETHEUS}`, fix)];
}

/** The hops of a pod, by the role that it asks. A role without a serving pod has a line of its own that says why. */
const hops = (facts: Facts, answer: Answer, variables: Record<string, string[]>): Result[] =>
  Object.entries(variables).flatMap(([name, own]) =>
    (facts.serving(name).length ? own : []).flatMap((variable) => checkHop(facts, answer, name, variable)),
  );

function ofProxy(facts: Facts, answer: Answer): Result[] {
  const sets = { web: ["WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM", "WEB_CURRENT"], "web-previous": ["WEB_PREVIOUS"] };
  const spool = hops(facts, answer, { spool: ["SPOOL_UPSTREAM", "SPOOL_FALLBACK_UPSTREAM"] });
  const { name = "proxy" } = facts.workloads.find(({ metadata }) => /proxy$/.test(metadata.name))?.metadata ?? {};
  return [
    ...[...hops(facts, answer, sets), ...spool, ...checkService(facts, name)],
    ...checkEnvelopes(answer, spool.some(isFailed) ? [] : facts.serving("spool")),
  ];
}

if (import.meta.main) {
  const facts = parseFacts(await text(process.stdin));
  if (process.argv.includes("--plan")) {
    console.log(plan(facts).join("\n"));
    const { pending } = checkWorkloads(facts);
    if (pending.length > 0) console.error(`culvert: waiting for ${pending.join(", ")}`);
    process.exitCode = pending.length > 0 ? 75 : 0;
  } else {
    report(check(facts));
    finish();
  }
}
