import { type Ended, exec, type Item, list, namespace } from "./api.ts";
import type { Environment } from "./environment.ts";
import { untraced } from "./ingest.ts";
import { failed, ok, type Result } from "./result.ts";
import { role, selector } from "./workloads.ts";

/** How a request ended: a status, or why there was none, by Node's codes. */
export type Ending = { status: number } | { why: string };

/** Takes the end of curl and returns that of its request. The exit codes: https://curl.se/docs/manpage.html */
export function curl({ code, output }: Ended): Ending {
  if (code === 0) return { status: Number(output) };
  const codes: Record<number, string> = {
    ...{ 6: "ENOTFOUND", 7: "ECONNREFUSED", 28: "ETIMEDOUT", 60: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY" },
    ...{ 126: "", 127: "", [-1]: "" },
  };
  return { why: codes[code] ?? "no answer" };
}

/** A request from inside a pod, as its own program makes it, within 5 s. */
async function ask(pod: Item, url: string): Promise<Ending> {
  const trace = Object.entries(untraced()).join().replace(",", ": ");
  if (role(pod) === "proxy")
    return curl(await exec(pod, "curl", "-sk", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", "-H", trace, url));
  const code = `fetch(process.argv[1], { method: "OPTIONS", signal: AbortSignal.timeout(5000) }).then(
    ({ status }) => console.log(status), ({ name, cause }) => console.log(cause?.code ?? name)).then(() => process.exit())`;
  const said = (await exec(pod, "node", "-e", code, url)).output.trim();
  return /^\d+$/.test(said) ? { status: Number(said) } : { why: said };
}

/** Says why a Service selects no ready pod, or does not exist; nothing if it is right. */
export async function checkService(name: string): Promise<Result[]> {
  const check = `Service ${name}`;
  const found = (await list("services")).find(({ metadata }) => metadata.name === name);
  if (!found) return [failed(check, "missing", "apply the overlay or the chart again")];
  const slices = await list("endpointslices", `kubernetes.io/service-name=${name}`);
  const endpoints = slices.flatMap(({ endpoints }) => endpoints ?? []);
  if (endpoints.some(({ conditions }) => conditions?.ready !== false)) return [];
  return [failed(check, "selects no ready pod", `its selector is ${JSON.stringify(found.spec.selector)}`)];
}

// Resolves only: a connection may fail for other reasons. Node kills itself, because its exit waits for the resolver.
const node = `setTimeout(() => process.kill(process.pid, "SIGKILL"), 10_000);
  require("node:dns").lookup(process.argv[1], (error) => process.exit(error ? 1 : 0))`;

/** Checks that a pod resolves the name that every cluster has. */
export async function checkDns(pod: Item): Promise<Result[]> {
  const resolve = role(pod) === "proxy" ? ["timeout", "10", "getent", "hosts"] : ["node", "-e", node];
  const { code } = await exec(pod, ...resolve, "kubernetes.default.svc");
  // Of Node, getent, timeout and SIGKILL. With others, the name resolves, or the command did not run, which the hops report.
  if (![1, 2, 124, 137].includes(code)) return [];
  const fix = "is CoreDNS up (kubectl -n kube-system get pods), and do the NetworkPolicies allow it?";
  return [failed("DNS", "pods resolve no names", fix)];
}

/** Asks a Service as its caller does: by the address in the caller's own variable. */
export async function checkHop(pod: Item, variable: string, settings: Environment, path: string): Promise<Result[]> {
  const address = settings[variable];
  if (!address) return [];
  const url = new URL(path, address.includes("://") ? address : `http://${address}`);
  const [service = ""] = url.hostname.split(".");
  const wrong = url.hostname.includes(`.${namespace}.svc.`) ? await checkService(service) : [];
  if (wrong.length > 0) return wrong;
  const check = `${role(pod)} → ${service}`;
  const answer = await ask(pod, url.href);
  if ("status" in answer && answer.status < 500) return [ok(check, `status ${answer.status}`)];
  const target = variable === "SERVER_TUNNEL" ? "proxy" : (variable.split("_")[0] ?? "").toLowerCase();
  const logs = `kubectl -n ${namespace} logs -l ${selector(target)}`;
  if ("status" in answer) return [failed(check, `status ${answer.status} for ${url.pathname}`, logs)];
  const { why } = answer;
  if (/ENOTFOUND|EAI_AGAIN/.test(why))
    return [failed(check, `${url.hostname} does not resolve`, `is the cluster's domain another one? ${variable}`)];
  if (/REFUSED/.test(why))
    return [failed(check, "connection refused", "is the port of the Service the one on which the pod listens?")];
  if (/timeout|TIMEDOUT|UNREACH/i.test(why))
    return [failed(check, "no connection within 5 s", "does a NetworkPolicy or the network plugin block it?")];
  if (why) return [failed(check, "the connection ends without an answer", logs)];
  const command = `${role(pod) === "proxy" ? "curl" : "node"} --version`;
  return [failed(check, "could not be tried", `kubectl -n ${namespace} exec ${pod.metadata.name} -- ${command}`)];
}
