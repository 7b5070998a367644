/**
 * Checks a deployment from inside its namespace, a line for each check; exit code 1 if one failed. Each connection is tried by the
 * pod that needs it. Variables: PAGE (a page of the app that must be served), WAIT_S (how long pods may take to be available),
 * PROMETHEUS (host:port), INSTANCE (a Helm release, if several are in the namespace), EXPECT (objects that must exist).
 */
import { type Item, list } from "./api.ts";
import { checkAutoscalers, checkMetrics, checkPolicies, checkSpread } from "./cluster.ts";
import { checkEntry } from "./entry.ts";
import { checkSettings, environment } from "./environment.ts";
import { checkDns, checkHop, checkService } from "./hops.ts";
import { failed, faults, skipped } from "./result.ts";
import { checkTunnel } from "./tunnel.ts";
import { checkWorkloads, role, servingPods, workloads } from "./workloads.ts";

const wait = Number(process.env.WAIT_S || 300);

async function checkProxy(proxy: Item, service: string, webServes: boolean): Promise<void> {
  const settings = await environment(proxy);
  await checkSettings("proxy", proxy);
  if (!(await checkDns(proxy, "proxy"))) return;
  const health = `${settings.BASE_PATH ?? ""}${settings.HEALTH_PATH || "/healthz"}`;
  let reached = webServes;
  if (webServes)
    for (const variable of ["WEB_UPSTREAM", "WEB_FALLBACK_UPSTREAM"])
      reached = (await checkHop(proxy, "proxy", variable, settings, health)) && reached;
  const spoolServes = (await servingPods("spool")).length > 0;
  const toSpool = spoolServes && (await checkHop(proxy, "proxy", "SPOOL_UPSTREAM", settings, "/healthz"));
  const entry = (await list("services")).find(({ metadata }) => metadata.name === service);
  if ((await checkService(service)) && entry) await checkEntry(entry, settings, reached && (process.env.PAGE ?? ""));
  if (!reached) skipped("pages: the proxy does not reach web");
  await checkTunnel(proxy, settings, toSpool);
}

async function checkWeb(web: Item, spoolServes: boolean): Promise<void> {
  const settings = await environment(web);
  await checkSettings("web", web);
  if (!(await checkDns(web, "web"))) return;
  await checkHop(web, "web", "SERVER_TUNNEL", settings, "");
  if (spoolServes) await checkHop(web, "web", "SPOOL_UPSTREAM", settings, "/healthz");
}

await checkWorkloads(wait);
const [proxies, webs, spools] = await Promise.all(["proxy", "web", "spool"].map(servingPods));
const [[proxy], [web], [spool]] = [proxies ?? [], webs ?? [], spools ?? []];
const named = await workloads();
const nameOf = (one: string) => named.find((workload) => role(workload) === one)?.metadata.name ?? one;
if (proxy) await checkProxy(proxy, nameOf("proxy"), web !== undefined);
if (proxy && web) await checkWeb(web, spool !== undefined);
if (spool) await checkSettings("spool", spool);
if (proxy) await checkMetrics(proxy);
if (proxy) await checkPolicies([proxy, web, spool].filter((pod) => pod !== undefined));
await checkAutoscalers(faults() ? 0 : wait);
if (proxies?.length) checkSpread(nameOf("proxy"), proxies);
if (webs?.length) checkSpread(nameOf("web"), webs);
for (const object of process.env.EXPECT?.split(/\s+/).filter(Boolean) ?? []) {
  const [kind = "", name] = object.split("/");
  if (!(await list(kind)).some(({ metadata }) => metadata.name === name))
    failed(`${kind}/${name}: missing: apply the overlay or the chart again`);
}
console.log(faults() ? `culvert: ${faults()} of the checks failed` : "culvert: all is well");
process.exitCode = faults() ? 1 : 0;
