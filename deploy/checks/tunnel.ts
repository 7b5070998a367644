import { exec, type Item, namespace, until } from "./api.ts";
import { type Environment, names } from "./environment.ts";
import { curl } from "./hops.ts";
import { answered, envelopeUrl, probe, unreachable } from "./ingest.ts";
import { sum } from "./metrics.ts";
import { failed, ok, type Result } from "./result.ts";

// The pod puts its DSN in, so that no command has it: the API server may log those.
const DSN = "@DSN@";
const send = `body=$1; shift; printf '%s%s%s' "\${body%%${DSN}*}" "$SENTRY_DSN" "\${body#*${DSN}}" |
  curl -s -m 20 -o /dev/null -w '%{http_code}' -H 'Content-Type: application/x-sentry-envelope' --data-binary @-`;
/** Sends a probe envelope from a proxy's own pod. */
const post = async (proxy: Item, options: string, ...more: string[]) =>
  curl(await exec(proxy, "sh", "-c", `${send} ${options} "$@"`, "sh", probe(DSN).body, ...more));
const statusOf = (ending: Awaited<ReturnType<typeof post>>) => ("status" in ending ? ending.status : 0);

const metrics = async (proxy: Item, address: string): Promise<string> =>
  (await exec(proxy, "curl", "-s", "-m", "5", `http://${address}/metrics`)).output;
const accepted = async (proxy: Item): Promise<number> =>
  sum(await metrics(proxy, "127.0.0.1:8081"), "culvert_tunnel_envelopes_total", 'outcome="accepted"');

/** Sends a probe envelope from a proxy's pod to the ingest itself. */
export async function checkIngest(proxy: Item, settings: Environment): Promise<Result[]> {
  const { href: address, host, pathname } = envelopeUrl(settings.SENTRY_DSN ?? "");
  const ending = await post(proxy, `\${INGEST_CA_FILE:+--cacert "$INGEST_CA_FILE"}`, address);
  if ("why" in ending) return [unreachable(host, ending.why)];
  return [answered("ingest", `${host} (project ${pathname.split("/").at(-3)})`, ending.status)];
}

/** Sends envelopes to one proxy, from its own pod: for the app's project, and for a foreign one. */
export async function checkTunnel(proxy: Item, settings: Environment): Promise<Result[]> {
  const [site] = names(settings);
  const options = `-k ${settings.PROXY_PROTOCOL === "on" ? "--haproxy-protocol" : ""} --resolve ${site}:8443:127.0.0.1`;
  const url = `https://${site}:8443${settings.TUNNEL_PATH || "/monitoring"}`;
  const logs = `kubectl -n ${namespace} logs ${proxy.metadata.name}`;
  const before = await accepted(proxy);
  const own = answered("envelope", "the tunnel", statusOf(await post(proxy, options, url)), logs);
  // The counter follows the response.
  const now = () => accepted(proxy);
  const isQueued = own.state === "ok" && (await until(Date.now() + 5000, now, (count) => count > before)) <= before;
  const queued = failed("envelope", "not acknowledged by the ingest, but queued", logs);
  const foreign = statusOf(await post(proxy, options, `${url}?o=1&p=1`));
  const check = "foreign envelope";
  return [
    isQueued ? queued : own,
    foreign === 403 ? ok(check, "status 403") : failed(check, `status ${foreign}, not 403`, logs),
  ];
}

/** Reads how much a replica of the spool has queued, and sends an envelope to it as the proxy does. */
export async function checkReplica(
  proxy: Item,
  { metadata: { name }, status }: Item,
  settings: Environment,
): Promise<Result[]> {
  const address = `${status.podIP.includes(":") ? `[${status.podIP}]` : status.podIP}:8082`;
  const queued = sum(await metrics(proxy, address), "culvert_spool_queued_envelopes");
  const header = `X-Spool-Destination: ${envelopeUrl(settings.SENTRY_DSN ?? "")}`;
  const found = statusOf(await post(proxy, "-H", header, `http://${address}/`));
  if (found === 200) return [ok(name, `writes to its volume; ${queued} envelopes queued`)];
  return [failed(name, `status ${found}, not 200`, `kubectl -n ${namespace} logs ${name}`)];
}
