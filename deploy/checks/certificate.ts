import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { openTls, type Target } from "./http.ts";
import { readable } from "./ingest.ts";
import { sum } from "./metrics.ts";
import { failed, ok, type Result, warning } from "./result.ts";

const CHECK = "certificate";
const DAY_MS = 86_400_000;
/** A share of its life; ACME clients renew at a third. */
const MIN_LIFE_LEFT = 1 / 6;

/** `acme`: with ACME=on, where its errors are. `front`: load balancers. `isInner`: they may have another certificate. */
type How = { acme?: string; front?: string; isInner?: boolean; now?: number };

/** Checks the certificate that is served as a browser would, for each name. */
export async function certificate(target: Target, names: string[], how: How = {}): Promise<Result[]> {
  const { acme, front } = how;
  const { peer, error } = await served(target);
  return classify(peer, error, names, { acme, isInner: Boolean(front) && (await endsTls(target, peer)) });
}

async function served(target: Target) {
  const socket = await openTls(target);
  // The type promises an Error, Node gives its code.
  const error = socket.authorizationError as unknown as string | undefined;
  const peer = socket.getPeerCertificate();
  socket.destroy();
  return { peer, error: error && String(error) };
}

/** Whether what is in front has another certificate. If it is not reached: unless it speaks the PROXY protocol. */
async function endsTls(target: Target, inner: PeerCertificate): Promise<boolean> {
  const front = { ...target, host: target.name, port: target.publicPort, proxyProtocol: false };
  const found = await served(front).catch(() => undefined);
  return found ? found.peer.fingerprint256 !== inner.fingerprint256 : !target.proxyProtocol;
}

/** Classifies a certificate and the error of its verification. */
export function classify(peer: PeerCertificate, error: string | undefined, names: string[], how: How = {}): Result[] {
  const { acme, isInner, now = Date.now() } = how;
  const untrusted = isInner || names.every(isLocal) ? warning : failed;
  if (String(peer.issuer?.CN).startsWith("Culvert development CA")) {
    const found = "a development certificate, which browsers do not trust";
    if (acme) return [failed(CHECK, `${found}: the CA has issued none yet`, acme)];
    const fix = `${isInner ? "if what is in front verifies it, set" : "set ACME=on, or"} TLS_CERT_FILE and TLS_KEY_FILE`;
    return [untrusted(CHECK, found, fix)];
  }
  return [nameAnswer(peer, names, acme), lifeAnswer(peer, acme, now), chainAnswer(peer, error, untrusted, acme)];
}

function nameAnswer(peer: PeerCertificate, names: string[], acme?: string): Result {
  const without = names.filter((name) => checkServerIdentity(name, peer));
  if (without.length === 0) return ok(CHECK, `is for ${names.join(", ")}`);
  const found = `${without.join(", ")}: the certificate is for ${peer.subjectaltname?.replaceAll("DNS:", "")}`;
  return failed(CHECK, found, acme ?? "use a certificate for every name of SERVER_NAME");
}

function lifeAnswer({ valid_from, valid_to }: PeerCertificate, acme: string | undefined, now: number): Result {
  const [from, end] = [Date.parse(valid_from), Date.parse(valid_to)];
  const days = Math.floor((end - now) / DAY_MS);
  const copy = "renew it, and copy it over TLS_CERT_FILE (Kubernetes: the Secret that the proxy mounts)";
  if (end < now) return failed(CHECK, `has expired on ${valid_to}`, acme ?? copy);
  if (from > now) return failed(CHECK, `is not valid before ${valid_from}`, "set this machine's clock (NTP)");
  if ((end - now) / (end - from) >= MIN_LIFE_LEFT) return ok(CHECK, `${days} days left`);
  return warning(CHECK, `${days} days left, less than a sixth of its life`, acme ?? "renew it");
}

function chainAnswer(peer: PeerCertificate, error = "", untrusted: typeof failed, acme?: string): Result {
  // OpenSSL checks dates after the chain.
  if (!error || /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$|ALTNAME/.test(error)) return ok(CHECK, "its chain is trusted");
  // A public CA says where its own certificate is. A private CA does not.
  if (/SELF_SIGNED_CERT_IN|ISSUER/.test(error) || (/LEAF/.test(error) && !peer.infoAccess)) {
    const found = `from the CA '${peer.issuer.CN ?? peer.issuer.O}', which public clients do not know`;
    return warning(CHECK, found, "give clients this CA, or use a certificate of a public one");
  }
  if (/LEAF/.test(error))
    return failed(CHECK, readable(error), acme ?? "TLS_CERT_FILE must hold the whole chain (fullchain.pem)");
  return untrusted(CHECK, readable(error), acme ?? "use a certificate of a public CA");
}

/** Checks, by the proxy's metrics, whether the pair on disk is served, and renewed. */
export function renewal(metrics: string, acme = "docker compose logs acme", unreadable: string[] = []): Result[] {
  const failures = sum(metrics, "culvert_certificate_renewal_failures");
  const [problem, fix] =
    unreadable.length > 0
      ? [`the proxy cannot read ${unreadable.join(", ")}`, "chown 101 the file, or chmod o+r"]
      : ["TLS_CERT_FILE and TLS_KEY_FILE are no pair", "copy both files of one pair again"];
  const rejected = failed(CHECK, `${problem}; the previous pair is served`, fix);
  return [
    ...(sum(metrics, "culvert_certificate_rejected") > 0 ? [rejected] : []),
    ...(failures > 0 ? [failed("acme", `${failures} failed renewals`, acme)] : []),
  ];
}

/** Whether a name leads only to this machine. */
export const isLocal = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.[\d.]+$/.test(name);
