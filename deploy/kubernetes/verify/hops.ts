import { type Ended, exec, type Item, list, namespace } from "./api.ts";
import type { Environment } from "./environment.ts";
import { failed, ok } from "./result.ts";

/** How a request ended: a status, or why there was none. */
type Answer = { status: number } | { error: "name" | "refused" | "timeout" | "failed" | "no answer" };

/** A request from inside a pod, as its own program makes it: of an unsampled trace, within 5 s. */
export async function ask(pod: Item, caller: "proxy" | "web", url: string): Promise<Answer> {
  const trace = "sentry-trace: 0123456789abcdef0123456789abcdef-0123456789abcdef-0";
  if (caller === "proxy")
    return curl(await exec(pod, "curl", "-sk", "-m", "5", "-o", "/dev/null", "-w", "%{http_code}", "-H", trace, url));
  const code = `fetch(process.argv[1], { method: "OPTIONS", signal: AbortSignal.timeout(5000) }).then(
    ({ status }) => console.log(status), ({ name, cause }) => console.log(cause?.code ?? name)).then(() => process.exit())`;
  const { output } = await exec(pod, "node", "-e", code, url);
  const said = output.trim();
  if (/^\d+$/.test(said)) return { status: Number(said) };
  if (/ENOTFOUND|EAI_AGAIN/.test(said)) return { error: "name" };
  if (/ECONNREFUSED/.test(said)) return { error: "refused" };
  return { error: /Timeout|TIMEDOUT|UNREACH/i.test(said) ? "timeout" : said ? "no answer" : "failed" };
}

/** The meaning of curl's exit codes: https://curl.se/docs/manpage.html */
export function curl({ code, output }: Ended): Answer {
  if (code === 0) return { status: Number(output) };
  const errors = { 6: "name", 7: "refused", 28: "timeout", 126: "failed", 127: "failed", [-1]: "failed" } as const;
  return { error: errors[code as keyof typeof errors] ?? "no answer" };
}

/** Whether a Service exists and selects a ready pod. */
export async function checkService(name: string): Promise<boolean> {
  const found = (await list("services")).find(({ metadata }) => metadata.name === name);
  if (!found) return failed(`Service ${name}: missing: apply the overlay or the chart again`);
  const slices = await list("endpointslices", `kubernetes.io/service-name=${name}`);
  const ready = slices
    .flatMap(({ endpoints }) => endpoints ?? [])
    .some(({ conditions }) => conditions?.ready !== false);
  return (
    ready || failed(`Service ${name}: selects no ready pod: its selector is ${JSON.stringify(found.spec.selector)}`)
  );
}

// Resolves only: a connection may fail for other reasons. Node kills itself, because its exit waits for the resolver.
const resolve = {
  proxy: ["timeout", "10", "getent", "hosts"],
  web: [
    "node",
    "-e",
    `setTimeout(() => process.kill(process.pid, "SIGKILL"), 10_000);
    require("node:dns").lookup(process.argv[1], (error) => process.exit(error ? 1 : 0))`,
  ],
};

/** Whether the caller's pod resolves the name that every cluster has. */
export async function checkDns(pod: Item, caller: "proxy" | "web"): Promise<boolean> {
  const { code } = await exec(pod, ...resolve[caller], "kubernetes.default.svc");
  // Of Node, getent, timeout and SIGKILL. With others, the name resolves, or the command did not run, which the hops report.
  if (![1, 2, 124, 137].includes(code)) return true;
  return failed(
    "DNS: pods resolve no names: is CoreDNS up (kubectl -n kube-system get pods), and do the NetworkPolicies allow it?",
  );
}

/** Asks a Service as its caller does: by the address in the caller's own variable. */
export async function checkHop(
  pod: Item,
  caller: "proxy" | "web",
  variable: string,
  settings: Environment,
  path: string,
): Promise<boolean> {
  const address = settings[variable];
  if (!address) return true;
  const url = new URL(path, address.includes("://") ? address : `http://${address}`);
  const [service = ""] = url.hostname.split(".");
  if (url.hostname.includes(`.${namespace}.svc.`) && !(await checkService(service))) return false;
  const answer = await ask(pod, caller, url.href);
  if ("status" in answer && answer.status < 500) {
    ok(`${caller} → ${service}`);
    return true;
  }
  if ("status" in answer)
    return failed(
      `${caller} → ${service}: status ${answer.status} for ${url.pathname}: kubectl -n ${namespace} logs -l app.kubernetes.io/name=${service}`,
    );
  const reasons = {
    refused: "connection refused: is the port of the Service the one on which the pod listens?",
    timeout: "no connection within 5 s: does a NetworkPolicy or the network plugin block it?",
    failed: `could not be tried: kubectl -n ${namespace} exec ${pod.metadata.name} -- ${caller === "proxy" ? "curl" : "node"} --version`,
    "no answer": `the connection ends without an answer: kubectl -n ${namespace} logs -l app.kubernetes.io/name=${service}`,
    name: `${url.hostname} does not resolve: is the cluster's domain another one? ${variable}`,
  };
  return failed(`${caller} → ${service}: ${reasons[answer.error]}`);
}
