// Checks what verify.sh has collected. --plan: prints what to ask which pod; exit code 75 if waiting may help.
import { text } from "node:stream/consumers";
import { failed, finish, ok, type Result, report, rule, skipped, warning } from "../result.ts";
import { checkManagers, checkRendered } from "./drift.ts";
import { type Answer, answerOf, type Facts, INSTANCE, logs, namespace, PROMETHEUS, parseFacts, plan } from "./facts.ts";
import { checkEnvelopes, checkHop, checkService } from "./hops.ts";
import { checkWorkloads } from "./workloads.ts";

const isFailed = ({ state }: Result) => state === "failed";
// Pods take a changed Secret when they restart.
const restart = `kubectl -n ${namespace} rollout restart deployment -l app.kubernetes.io/part-of=culvert`;
const another = failed("DSN", "web has another one than the proxy", restart);

/** All checks of these facts. */
export function check(facts: Facts): Result[] {
  const refused = ["objects", "nodes", "proxy", "web", "spool"].flatMap((of) =>
    facts.lines(`error ${of}`).map(refusal),
  );
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
    checkPolicies(facts, proxy && (web ?? answerOf(facts, "spool"))),
  ];
}

/** What kubectl may not do. */
function refusal(line: string): Result {
  const [, verb, resource] = /cannot (\w+) resource "([\w/]+)"/.exec(line) ?? [];
  const allow = `kubectl -n ${namespace} create role culvert-verify --verb=${verb} --resource=${resource}, and a rolebinding`;
  return warning("cluster", line, verb ? allow : "does kubectl work?");
}

function checkPolicies(facts: Facts, by?: Answer): Result {
  const check = "network policies";
  if (facts.of("NetworkPolicy").length === 0) return skipped(check, "not used");
  if (by?.isReached === undefined) return skipped(check, "no pod could test them");
  const found = `not enforced: ${by.role} reaches the proxy's port for probes`;
  return rule(check, !by.isReached, "enforced", found, "does the network plugin support NetworkPolicy?");
}

/** Checks the proxy's metrics, and whether Prometheus scrapes them. */
function checkMetrics(facts: Facts, { metrics }: Answer): Result[] {
  if (!metrics) return [failed("metrics", "none on port 8081", logs("proxy"))];
  const [check, found] = ["scraped metrics", facts.lines("prometheus").join()];
  const fixAddress = `${PROMETHEUS} is not reached: set PROMETHEUS to its address`;
  const fix = "monitoring.enabled, and the label that its podMonitorSelector wants, such as release";
  const isScraped = found.includes('"value"');
  return [
    ok("metrics", "available"),
    found
      ? rule(check, isScraped, `by ${PROMETHEUS}`, `not by ${PROMETHEUS}`, fix, warning)
      : skipped(check, fixAddress),
  ];
}

/** The hops of a pod, by the role that it asks. */
const hops = (facts: Facts, answer: Answer, variables: Record<string, string[]>): Result[] =>
  Object.entries(variables).flatMap(([name, hops]) =>
    (facts.serving(name).length ? hops : []).flatMap((variable) => checkHop(facts, answer, name, variable)),
  );

function ofProxy(facts: Facts, answer: Answer): Result[] {
  const sets = { web: ["WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM", "WEB_CURRENT"], "web-previous": ["WEB_PREVIOUS"] };
  const spool = hops(facts, answer, { spool: ["SPOOL_UPSTREAM", "SPOOL_FALLBACK_UPSTREAM"] });
  const { name = "proxy" } = facts.workloads.find(({ metadata }) => /proxy$/.test(metadata.name))?.metadata ?? {};
  return [
    ...hops(facts, answer, sets),
    ...spool,
    ...checkService(facts, name),
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
