/**
 * Checks a deployment from inside its namespace, a line for each check; exit code 1 if one failed. Each connection is tried by the
 * pod that needs it. Variables: PAGE (a page of the app that must be served), WAIT_S (how long pods may take to be available),
 * PROMETHEUS (host:port), INSTANCE (a Helm release, if several are in the namespace), EXPECT (objects that must exist), MISSING and CHANGED
 * (what of the overlay is not in the cluster, and what differs), SENTRY_DSN (the Secret's).
 */
import { type Item, list } from "./api.ts";
import { checkAutoscalers, checkMetrics, checkPolicies, checkSpread } from "./cluster.ts";
import { checkEntry } from "./entry.ts";
import { checkDsn, type Environment, environment } from "./environment.ts";
import { checkDns, checkHop, checkService } from "./hops.ts";
import { limits } from "./limits.ts";
import { failed, finish, hasFailed, type Result, reason, report, skipped } from "./result.ts";
import { checkIngest, checkReplica, checkTunnel } from "./tunnel.ts";
import { checkWorkloads, role, servingPods, workloads } from "./workloads.ts";

const { PAGE = "", INSTANCE, EXPECT = "", MISSING = "", CHANGED = "" } = process.env;
const wait = Number(process.env.WAIT_S || 300);
const words = (text: string) => text.split(/\s+/).filter(Boolean);
const isFailed = ({ state }: Result) => state === "failed";

/** Prints results, and returns whether none failed. */
function passes(results: Result[]): boolean {
  report(results);
  return !results.some(isFailed);
}

/** What must be there, and is not. */
async function missingObjects(): Promise<Result[]> {
  const fix = "apply the overlay or the chart again";
  const expected = await Promise.all(
    words(EXPECT).map(async (object) => {
      const [kind = "", name] = object.split("/");
      return (await list(kind)).some(({ metadata }) => metadata.name === name) ? [] : object;
    }),
  );
  return [...words(MISSING), ...expected.flat()].map((object) => failed(object, "missing", fix));
}

type Pods = [pod: Item, settings: Environment][];

async function checkProxy([proxy, settings]: Pods[0], service: string, web: boolean, spools: Pods): Promise<void> {
  if (!passes(await checkDns(proxy))) return;
  const hop = async (variable: string, path: string) => passes(await checkHop(proxy, variable, settings, path));
  const health = `${settings.BASE_PATH ?? ""}${settings.HEALTH_PATH || "/healthz"}`;
  const isReached =
    web && [await hop("WEB_UPSTREAM", health), await hop("WEB_FALLBACK_UPSTREAM", health)].every(Boolean);
  if (web) await hop("WEB_CURRENT_UPSTREAM", health);
  if ((await servingPods("web-previous")).length > 0) await hop("WEB_PREVIOUS_UPSTREAMS", health);
  const isSpoolReached =
    spools.length > 0 &&
    [await hop("SPOOL_UPSTREAM", "/healthz"), await hop("SPOOL_FALLBACK_UPSTREAM", "/healthz")].every(Boolean);
  const entry = (await list("services")).find(({ metadata }) => metadata.name === service);
  if (passes(await checkService(service)) && entry)
    report(await checkEntry(entry, settings, isReached ? PAGE : undefined));
  if (!isReached) report([skipped("pages", "the proxy does not reach web")]);
  const ingest = await checkIngest(proxy, settings);
  report(ingest);
  // So that no probe is queued.
  if (ingest.some(({ state }) => state !== "ok"))
    return report([skipped("envelopes", "the ingest does not accept them")]);
  report(await checkTunnel(proxy, settings));
  if (isSpoolReached) for (const [spool] of spools) report(await checkReplica(proxy, spool, settings));
}

async function checkWeb([web, settings]: Pods[0], hasSpool: boolean): Promise<void> {
  if (!passes(await checkDns(web))) return;
  report(await checkHop(web, "SERVER_TUNNEL", settings, ""));
  if (hasSpool) report(await checkHop(web, "SPOOL_UPSTREAM", settings, "/healthz"));
}

async function verify(): Promise<void> {
  const instances = new Set((await workloads()).map(({ metadata }) => metadata.labels?.["app.kubernetes.io/instance"]));
  if (instances.size > 1 && !INSTANCE) {
    const found = `the namespace has several releases: ${[...instances].join(", ")}`;
    return report([failed("INSTANCE", found, "name the one to check")]);
  }
  if (!passes(await missingObjects())) return report([skipped("all other checks", "objects are missing")]);
  if (CHANGED) report([failed("overlay", `${CHANGED} differs in the cluster`, "kubectl diff shows how; apply again")]);

  const states = await checkWorkloads(wait);
  report(states);
  const roles = ["proxy", "web", "spool"];
  const serving = await Promise.all(roles.map(servingPods));
  const maps = await list("configmaps");
  const found = await Promise.all(serving.flat().map(async (pod) => ({ pod, ...(await environment(pod, maps)) })));
  const pods: Pods = found.flatMap(({ pod, settings }) => (settings ? [[pod, settings]] : []));
  const [proxies, webs, spools] = roles.map((name) => pods.filter(([pod]) => role(pod) === name)) as [Pods, Pods, Pods];
  // One of several may have ended meanwhile.
  const unread = found.find(({ pod }) => !pods.some(([other]) => role(other) === role(pod)));
  if (unread) return report(unread.results);
  // The overlay's line has named the others.
  const isNamed = ({ check }: Result) => CHANGED.includes(check.replace("ConfigMap ", "ConfigMap/"));
  report(found.flatMap(({ settings, results }) => (settings ? results.filter((one) => !isNamed(one)) : [])));
  const named = (await workloads()).map((one) => [role(one), one.metadata.name] as const);
  const nameOf = (name: string) => named.find(([one]) => one === name)?.[1] ?? name;
  const workload = (name: string) => `${name === "spool" ? "statefulset" : "deployment"}/${nameOf(name)}`;
  const dsn = checkDsn(pods, Object.fromEntries(roles.map((name) => [name, workload(name)])));
  if (!passes(dsn)) return report([skipped("all other checks", "the pods need one DSN")]);

  const [[proxy], [web]] = [proxies, webs];
  if (proxy) await checkProxy(proxy, nameOf("proxy"), web !== undefined, spools);
  if (proxy && web) await checkWeb(web, spools.length > 0);
  if (proxy) report([...limits(proxy[1]), ...(await checkMetrics(proxy[0]))]);
  const first = [proxies, webs, spools].flatMap(([one]) => (one ? [one[0]] : []));
  if (proxy) report(await checkPolicies(first));
  const down = states.filter(({ state }) => state !== "ok").map(({ check }) => check);
  report(await checkAutoscalers(hasFailed() ? 0 : wait, down));
  for (const [at, name] of roles.entries()) {
    const all = serving[at] ?? [];
    if (all.length > (name === "spool" ? 1 : 0)) report([checkSpread(workload(name), all)]);
  }
}

await verify().catch((error) =>
  report([failed("cluster", `cannot be read (${reason(error)})`, "has the Job the Role of verify/access.yaml?")]),
);
finish();
