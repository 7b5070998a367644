import { X509Certificate } from "node:crypto";
import type { PeerCertificate } from "node:tls";
import { classify } from "../certificate.ts";
import { answered, envelopeUrl, SILENT, unreachable } from "../ingest.ts";
import { failed, ok, type Result, skipped } from "../result.ts";
import {
  type Answer,
  addressOf,
  type Ended,
  type Facts,
  type Item,
  isReady,
  matches,
  namespace,
  PAGE,
  role,
  selecting,
} from "./facts.ts";

/** By curl's exit status: https://curl.se/docs/manpage.html */
const codes: Record<number, string> = { 6: "ENOTFOUND", 7: "ECONNREFUSED", 35: "EPROTO", 52: SILENT, 56: SILENT };
/** By OpenSSL's result: https://docs.openssl.org/master/man1/openssl-verification-options/#diagnostics */
const certificates: Record<number, string> = {
  // The name is compared without OpenSSL, by newer versions of curl before it has a result.
  ...{ 0: "ERR_TLS_CERT_ALTNAME_INVALID", 1: "ERR_TLS_CERT_ALTNAME_INVALID", 9: "CERT_NOT_YET_VALID" },
  ...{ 10: "CERT_HAS_EXPIRED", 18: "DEPTH_ZERO_SELF_SIGNED_CERT", 19: "SELF_SIGNED_CERT_IN_CHAIN" },
  ...{ 20: "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", 21: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" },
};
type Asked = Ended | number | string | undefined;
const statusOf = (one: Asked) => (typeof one === "object" ? one.status : Number(one) || 0);
/** Why there was no response: a system error's code, or that of a certificate; nothing if there was one. */
function why(one: Asked): string {
  if (typeof one !== "object") return typeof one === "number" ? "" : (one ?? "not asked");
  if (one.end === 28) return one.isConnected ? SILENT : "ETIMEDOUT";
  if (one.end === 60) return certificates[one.verified] ?? `CERT ${one.verified}`;
  return one.end === 0 ? "" : (codes[one.end] ?? `curl's exit status ${one.end}`);
}
const logs = (name: string) => `kubectl -n ${namespace} logs ${selecting(name)}`;

/** Says why a Service selects no ready pod, or does not exist; nothing if it is right. */
export function checkService(facts: Facts, name: string): Result[] {
  const found = facts.of("Service").find(({ metadata }) => metadata.name === name);
  if (!found) return [failed(`Service ${name}`, "missing", "apply the values again")];
  const { selector, publishNotReadyAddresses: all } = found.spec;
  const pods = facts.of("Pod").filter((pod) => matches(selector, pod.metadata.labels) && (all || isReady(pod)));
  if (pods.length > 0) return [];
  return [failed(`Service ${name}`, "selects no ready pod", `its selector is ${JSON.stringify(selector)}`)];
}

const reasons: [code: RegExp, found: string, fix: string][] = [
  [/ENOTFOUND|EAI_AGAIN/, "HOST does not resolve", "is the cluster's domain another one? clusterDomain"],
  [/REFUSED/, "connection refused", "is the port of the Service the one on which the pod listens?"],
  [/TIMEDOUT|Timeout|UNREACH/, "no connection within 5 s", "does a NetworkPolicy or the network plugin block it?"],
];

/** How a pod reached a Service: by the address in its own variable. */
export function checkHop(facts: Facts, { pod, settings, asked }: Answer, variable: string): Result[] {
  const [address, answer] = [settings[variable], asked[variable]];
  if (!address || answer === undefined) return [];
  const { hostname } = new URL(address.includes("://") ? address : `http://${address}`);
  const [service = ""] = hostname.split(".");
  const wrong = hostname.includes(`.${namespace}.svc.`) ? checkService(facts, service) : [];
  if (wrong.length > 0) return wrong;
  const [check, code, status] = [`${role(pod)} → ${service}`, why(answer), statusOf(answer)];
  if (!code && status < 500) return [ok(check, `status ${status}`)];
  const log = logs(variable === "SERVER_TUNNEL" ? "proxy" : (variable.split("_")[0] ?? "").toLowerCase());
  if (!code) return [failed(check, `status ${status}`, log)];
  const known = reasons.find(([pattern]) => pattern.test(code));
  if (known) return [failed(check, known[1].replace("HOST", hostname), known[2])];
  return [failed(check, `connected, but ${code}`, log)];
}

/** The site as its clients ask it, at the proxy's own address. `hasPages`: the proxy reaches web. */
export function checkSite({ settings, asked, certificate }: Answer, hasPages: boolean): Result[] {
  const results: Result[] = [];
  const tls = asked.certificate as Ended | undefined;
  if (tls && !certificate) return [failed("certificate", `no TLS on port 8443 (${why(tls)})`, logs("proxy"))];
  if (tls && certificate) {
    const peer = new X509Certificate(certificate).toLegacyObject() as PeerCertificate;
    const names = (settings.SERVER_NAME || "localhost").split(/[\s,]+/).filter(Boolean);
    results.push(...classify(peer, tls.end === 60 ? certificates[tls.verified] : undefined, names, undefined, true));
  } else if (statusOf(asked.root) === 308) {
    const fix = "TRUSTED_PROXIES must have the addresses of the front's pods: the cluster's pod range";
    return [failed("front", "port 8080 redirects what says that it came over TLS", fix)];
  } else results.push(ok("front", "TLS ends before the proxy, port 8080"));
  if (!hasPages) return [...results, skipped("pages", "the proxy does not reach web")];
  const [path, found] = [`page ${settings.BASE_PATH ?? ""}${PAGE || "/healthz"}`, statusOf(asked.page)];
  // Without a page of yours: any page that the app has rendered, a 404 too, as in its health check.
  const isFine = found > 0 && (PAGE ? found < 400 || found === 401 || found === 403 : found < 500);
  if (!isFine) return [...results, failed(path, why(asked.page) || `status ${found}`, logs("web"))];
  const status = statusOf(asked.unknown);
  const isAnswer = status > 0 && status < 500 && status !== 404;
  const other = skipped("unknown page", `status ${status}: the app has an answer for every path`);
  const wrong = failed("unknown page", `status ${status}, not 404`, logs("web"));
  const unknown = status === 404 ? ok("unknown page", "status 404") : isAnswer ? other : wrong;
  return [...results, ok(path, `status ${found}`), unknown];
}

/** Envelopes from the proxy's pod: to the ingest, through the tunnel for the app's project and a foreign one, to each spool. */
export function checkEnvelopes({ pod, settings, asked, queued }: Answer, spools: Item[]): Result[] {
  const { host, pathname } = envelopeUrl(settings.SENTRY_DSN ?? "");
  const none = skipped("envelopes", "the ingest does not accept them");
  const code = why(asked.ingest);
  const own = answered("ingest", `${host} (project ${pathname.split("/").at(-3)})`, statusOf(asked.ingest));
  if (code || own.state !== "ok") return [code ? unreachable(host, code) : own, none];
  const log = (name: string) => `kubectl -n ${namespace} logs ${name}`;
  const through = answered("envelope", "the tunnel", statusOf(asked.envelope), log(pod.metadata.name));
  const isQueued = through.state === "ok" && (asked.server as Ended | undefined)?.outcome === "queued";
  const foreign = statusOf(asked.foreign);
  const refused = `status ${foreign}${foreign === 403 ? "" : ", not 403"}`;
  return [
    own,
    isQueued ? failed("envelope", "not acknowledged by the ingest, but queued", log(pod.metadata.name)) : through,
    foreign === 403 ? ok("foreign envelope", refused) : failed("foreign envelope", refused, log(pod.metadata.name)),
    ...spools.map((spool) => {
      const [address, { name }] = [addressOf(spool), spool.metadata];
      const status = statusOf(asked[`spool:${address}`]);
      if (status !== 200) return failed(name, `status ${status}, not 200`, log(name));
      return ok(name, `writes to its volume; ${queued[address] ?? 0} envelopes queued`);
    }),
  ];
}
