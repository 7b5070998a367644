// Checks what verify.sh has collected, a line for each check; exit code 1 if one failed. With --plan: prints what to ask which pod; exit code
// 75 if waiting may help.
import { text } from "node:stream/consumers";
import { limits } from "../limits.ts";
import { failed, finish, type Result, report, warning } from "../result.ts";
import { checkAutoscalers, checkMetrics, checkPolicies, checkRendered } from "./cluster.ts";
import { type Answer, answerOf, type Facts, INSTANCE, namespace, parseFacts, plan, role } from "./facts.ts";
import { checkEnvelopes, checkHop, checkService } from "./hops.ts";
import { checkNodes, checkWorkloads } from "./workloads.ts";

const isFailed = ({ state }: Result) => state === "failed";
const dns = "is CoreDNS up, do the NetworkPolicies allow it, is clusterDomain the cluster's?";
const unresolved = failed("DNS", "pods resolve no names", dns);
// Pods take a changed Secret when they restart. A spool refuses the proxy's envelope.
const another = failed(
  "DSN",
  "web has another one than the proxy",
  `kubectl -n ${namespace} rollout restart deployment`,
);

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
  const before = [...refused, ...checkRendered(facts), ...checkNodes(facts), ...states];
  if (!proxy && !web)
    return states.some(isFailed) ? before : [...before, failed("hops", "none could be asked", "see the lines above")];
  return [
    ...before,
    ...(proxy ? ofProxy(facts, proxy) : []),
    ...(proxy && web && proxy.settings.SENTRY_DSN !== web.settings.SENTRY_DSN ? [another] : []),
    ...(proxy && web ? hops(facts, web, { proxy: ["SERVER_TUNNEL"], spool: ["SPOOL_UPSTREAM"] }) : []),
    ...(proxy ? [...limits(proxy.settings), ...checkMetrics(facts, proxy)] : []),
    checkPolicies(facts, proxy && web),
    ...checkAutoscalers(facts, down(states)),
  ];
}

/** What kubectl may not do, with the command that would allow it. */
function refusal(line: string): Result {
  const [, verb, resource] = /cannot (\w+) resource "([\w/]+)"/.exec(line) ?? [];
  const allow = `kubectl -n ${namespace} create role culvert-verify --verb=${verb} --resource=${resource}, and a rolebinding`;
  return warning("cluster", line, verb ? allow : "does kubectl work?");
}

const down = (states: Result[]) => states.filter(({ state }) => state !== "ok").map((one) => one.check);

/** Whether a pod got no address of any Service. */
function isLost({ asked }: Answer): boolean {
  const ends = Object.keys(asked).filter((name) => /_(?:UPSTREAM|TUNNEL)/.test(name));
  return ends.length > 0 && ends.every((name) => /ENOTFOUND|EAI_AGAIN/.test(`${asked[name]}`));
}

/** The hops of a pod, by the role that it asks. A role without a serving pod has a line of its own that says why. */
const hops = (facts: Facts, answer: Answer, variables: Record<string, string[]>): Result[] =>
  isLost(answer)
    ? [unresolved]
    : Object.entries(variables).flatMap(([name, own]) =>
        facts.serving(name).length ? own.flatMap((variable) => checkHop(facts, answer, name, variable)) : [],
      );

function ofProxy(facts: Facts, answer: Answer): Result[] {
  if (isLost(answer)) return [unresolved];
  const web = hops(facts, answer, { web: ["WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM"] });
  const more = hops(facts, answer, { web: ["WEB_CURRENT"], "web-previous": ["WEB_PREVIOUS"] });
  const spool = hops(facts, answer, { spool: ["SPOOL_UPSTREAM", "SPOOL_FALLBACK_UPSTREAM"] });
  const name = facts.workloads.find((one) => role(one) === "proxy")?.metadata.name ?? "proxy";
  return [
    ...[...web, ...more, ...spool, ...checkService(facts, name)],
    ...checkEnvelopes(answer, spool.some(isFailed) ? [] : facts.serving("spool")),
  ];
}

if (import.meta.main) {
  const facts = parseFacts(await text(process.stdin));
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
