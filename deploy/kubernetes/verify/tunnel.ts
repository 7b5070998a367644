import { exec, type Item, namespace } from "./api.ts";
import { type Environment, names } from "./environment.ts";
import { curl } from "./hops.ts";
import { failed, ok } from "./result.ts";

// Empty client reports, which Sentry does not show. They are made in the pod, so that the DSN does not leave it.
const envelope = `printf '{"dsn":"%s"}\\n{"type":"client_report"}\\n{"timestamp":%s,"discarded_events":[]}\\n' "$SENTRY_DSN" "$(date +%s)"`;
const post = `${envelope} | curl -sk -m 20 -o /dev/null -w '%{http_code}' -H 'Content-Type: text/plain' --data-binary @-`;
const destination = `$(printf %s "$SENTRY_DSN" | sed -E 's|^(https?://)[^@]*@(.*)/([0-9]+)$|\\1\\2/api/\\3/envelope/|')`;
const ingest = `curl -s -m 5 -o /dev/null -w '%{http_code}' \${INGEST_CA_FILE:+--cacert "$INGEST_CA_FILE"} "${destination}"`;

const accepted = async (proxy: Item): Promise<number> => {
  const { output } = await exec(proxy, "curl", "-s", "-m", "5", "http://127.0.0.1:8081/metrics");
  const counts = output.match(/^culvert_tunnel_envelopes_total\{outcome="accepted".*$/gm) ?? [];
  return counts.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
};

/** Sends envelopes to one proxy, from its own pod: for the app's project, for a foreign one, and to the spool as the proxy does. */
export async function checkTunnel(proxy: Item, settings: Environment, withSpool: boolean): Promise<void> {
  const [site] = names(settings);
  const header = settings.PROXY_PROTOCOL === "on" ? "--haproxy-protocol" : "";
  const tunnel = (query: string) =>
    exec(
      proxy,
      "sh",
      "-c",
      `${post} ${header} --resolve ${site}:8443:127.0.0.1 'https://${site}:8443${settings.TUNNEL_PATH || "/monitoring"}${query}'`,
    );

  const before = await accepted(proxy);
  const own = await tunnel("");
  if (own.output !== "200")
    failed(`envelope: ${own.output || "no answer"}, not 200: kubectl -n ${namespace} logs ${proxy.metadata.name}`);
  else if (await increases(proxy, before)) ok("envelope: acknowledged by the ingest");
  else failed(`envelope: not acknowledged by the ingest: ${await whyNot(proxy)}`);

  const foreign = await tunnel("?o=1&p=1");
  if (foreign.output === "403") ok("envelope for a foreign project: 403");
  else failed(`envelope for a foreign project: ${foreign.output || "no answer"}, not 403`);

  if (!withSpool) return;
  const queued = await exec(
    proxy,
    "sh",
    "-c",
    `${post} -H "X-Spool-Destination: ${destination}" "http://$SPOOL_UPSTREAM/"`,
  );
  if (queued.output === "200") ok("spool: writes to its volume");
  else
    failed(
      `spool: ${queued.output || "no answer"}, not 200: kubectl -n ${namespace} logs -l app.kubernetes.io/name=spool`,
    );
}

/** The counter follows the response. */
async function increases(proxy: Item, before: number): Promise<boolean> {
  for (let tries = 0; tries < 10; tries += 1) {
    if ((await accepted(proxy)) > before) return true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return false;
}

async function whyNot(proxy: Item): Promise<string> {
  const answer = curl(await exec(proxy, "sh", "-c", ingest));
  if ("status" in answer)
    return `it is reached and responds ${answer.status}: is the DSN's project right, and is the ingest up?`;
  if (answer.error === "name") return "its name does not resolve in the proxy's pod";
  if (answer.error === "timeout")
    return "no connection within 5 s: allow its address in the NetworkPolicy of proxy and spool, or in your firewall";
  return answer.error === "refused"
    ? "it refuses the connection"
    : "the connection fails: is its certificate from a private CA (ingest-ca)?";
}
