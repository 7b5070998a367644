import { answered, ingestName, SILENT, unreachable } from "../ingest.ts";
import { failed, ok, type Result, rule, skipped } from "../result.ts";
import { type Answer, addressOf, type Facts, type Item, isReady, logs, namespace } from "./facts.ts";

/** Says why a Service selects no ready pod, or does not exist. */
export function checkService(facts: Facts, name: string): Result[] {
  const found = facts.of("Service").find(({ metadata }) => metadata.name === name);
  if (!found) return [failed(`Service ${name}`, "missing", "apply the values again")];
  const { selector = {}, publishNotReadyAddresses: all } = found.spec;
  const selects = ({ metadata }: Item) =>
    Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value);
  const pods = facts.of("Pod").filter(selects);
  if (pods.some(isReady)) return [];
  // In a rollout that is stuck. Its workload's line says why.
  if (all && pods.length > 0) return [skipped(`Service ${name}`, "its pods are not ready")];
  return [failed(`Service ${name}`, "selects no ready pod", `its selector is ${JSON.stringify(selector)}`)];
}

const reasons: [code: RegExp, found: string, fix: string][] = [
  [/ENOTFOUND|EAI_AGAIN/, "HOST does not resolve", "is CoreDNS up and allowed by policies, is clusterDomain right?"],
  [/REFUSED/, "connection refused", "is the port of the Service the one on which the pod listens?"],
  [/TIMEDOUT|Timeout|UNREACH/, "no connection within 5 s", "does a NetworkPolicy or the network plugin block it?"],
  [/^/, "connected, but CODE", ""],
];

/** How a pod reached the Service in one of its variables. */
export function checkHop(facts: Facts, { role, settings, asked }: Answer, to: string, name: string): Result[] {
  const [address, answer] = [settings[name], asked[name]];
  if (!address || answer === undefined) return [];
  const { hostname } = new URL(address.includes("://") ? address : `http://${address}`);
  const [service = ""] = hostname.split(".");
  const wrong = hostname.includes(`.${namespace}.svc.`) ? checkService(facts, service) : [];
  if (wrong.length > 0) return wrong;
  const check = `${role} → ${service}`;
  if (typeof answer === "number") return [rule(check, answer < 500, `status ${answer}`, `status ${answer}`, logs(to))];
  const [, found = "", fix = ""] = reasons.find(([code]) => code.test(answer)) ?? [];
  return [failed(check, found.replace("HOST", hostname).replace("CODE", answer), fix || logs(to))];
}

/** Envelopes from the proxy's pod: to the ingest, as web sends them, to each spool. */
export function checkEnvelopes({ settings, asked, queued }: Answer, spools: Item[]): Result[] {
  const { SENTRY_DSN = "", INGEST_CA_FILE } = settings;
  const { ingest = SILENT, server } = asked;
  const direct =
    typeof ingest === "string"
      ? unreachable(new URL(SENTRY_DSN).host, ingest, INGEST_CA_FILE)
      : answered("ingest", ingestName(SENTRY_DSN), ingest);
  if (direct.state !== "ok")
    return [direct, skipped("envelopes", "the ingest does not accept them", { follows: ["ingest"] })];
  return [
    direct,
    typeof server === "number"
      ? answered("envelope", "the proxy", server, { logs: logs("proxy") })
      : failed("envelope", `not acknowledged by the ingest, but ${server}`, logs("proxy")),
    ...spools.map((spool) => {
      const [address, { name }] = [addressOf(spool), spool.metadata];
      const status = asked[`spool:${address}`];
      if (status === 200) return ok(name, `writes to its volume; ${queued[address] ?? 0} envelopes queued`);
      if (status === 403)
        return failed(name, "has another DSN than the proxy", `kubectl -n ${namespace} delete pod ${name}`);
      return failed(name, `status ${status}, not 200`, `kubectl -n ${namespace} logs ${name}`);
    }),
  ];
}
