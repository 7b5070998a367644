import { type Item, namespace } from "./api.ts";
import { certificate } from "./certificate.ts";
import { type Environment, names } from "./environment.ts";
import { exchange, request, type Target } from "./http.ts";
import { failed, ok, type Result, reason, skipped } from "./result.ts";
import { selector } from "./workloads.ts";

/** Whether TLS ends before the proxy: at an Ingress controller or a Gateway, whose addresses TRUSTED_PROXIES has. */
const endsBefore = ({ TRUSTED_PROXIES, PROXY_PROTOCOL, TLS_CERT_FILE, ACME }: Environment) =>
  Boolean(TRUSTED_PROXIES) && PROXY_PROTOCOL !== "on" && !TLS_CERT_FILE && ACME !== "on";

const trust =
  "TRUSTED_PROXIES must have the addresses of this pod and of the Ingress controller's: the cluster's pod range";

/** Checks the certificate for each host name, then pages, through the Service as its clients ask it. `page` is undefined if there can be none. */
export async function checkEntry(service: Item, settings: Environment, page: string | undefined): Promise<Result[]> {
  const { clusterIP: host, ports, type } = service.spec;
  const check = `Service ${service.metadata.name}`;
  const isPlain = endsBefore(settings);
  const portOf = (wanted: string) => ports.find(({ name }: { name: string }) => name === wanted)?.port;
  const port = isPlain ? (portOf("http") ?? 80) : (portOf("https") ?? 443);
  const [name = "localhost"] = names(settings);
  const target: Target = {
    ...{ host, port, name, publicPort: 443, basePath: "", tunnelPath: "" },
    proxyProtocol: settings.PROXY_PROTOCOL === "on",
  };
  // The scheme is that of the browser, which only an address in TRUSTED_PROXIES may report.
  const plain = { host, port, headers: { Host: name, "X-Forwarded-Proto": "https" } };
  const get = async (path: string) => (await (isPlain ? exchange({ ...plain, path }) : request(target, path))).status;
  const results: Result[] = [];
  try {
    if (!isPlain) results.push(...(await certificate(target, names(settings), undefined, true)));
    else if ((await get("/")) === 308)
      return [failed(check, `port ${port} redirects what says that it came over TLS`, trust)];
    else results.push(ok(check, `TLS ends before the proxy, port ${port}`));
    if (page !== undefined) results.push(...(await checkPages(get, settings, page)));
  } catch (error) {
    const fix = `kubectl -n ${namespace} describe service ${service.metadata.name}`;
    results.push(failed(check, `port ${port} does not answer (${reason(error)})`, fix));
  }
  if (type === "LoadBalancer" && !service.status?.loadBalancer?.ingress?.length)
    results.push(skipped(check, "the load balancer has no address yet"));
  return results;
}

async function checkPages(
  get: (path: string) => Promise<number>,
  settings: Environment,
  page: string,
): Promise<Result[]> {
  const base = settings.BASE_PATH ?? "";
  const wanted = page ? `${base}${page}` : `${base}${settings.HEALTH_PATH || "/healthz"}`;
  const logs = `kubectl -n ${namespace} logs -l ${selector("web")}`;
  const found = await get(wanted);
  // Without a page of yours: any page that the app has rendered, a 404 too, as in its health check.
  const fine = page ? found < 400 || found === 401 || found === 403 : found < 500;
  if (!fine) return [failed(`page ${wanted}`, `status ${found}`, logs)];
  const results = [ok(`page ${wanted}`, `status ${found}`)];
  const unknown = await get(`${base}/culvert-verify-no-such-page`);
  if (unknown === 404) return [...results, ok("unknown page", "status 404")];
  if (unknown < 500)
    return [...results, skipped("unknown page", `status ${unknown}: the app has an answer for every path`)];
  return [...results, failed("unknown page", `status ${unknown}, not 404`, logs)];
}
