import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { openTls, type Target } from "./http.ts";
import { words } from "./ingest.ts";
import { sum } from "./metrics.ts";
import { failed, ok, type Result, warning } from "./result.ts";

const CHECK = "certificate";
const DAY_MS = 86_400_000;
/** As a share of the certificate's life; ACME clients renew at a third. */
const MIN_LIFE_LEFT = 1 / 6;

/** Takes the addresses of load balancers in front, and with ACME=on where its errors are. */
type Circumstances = { acme?: string; front?: string };

/** Checks the certificate that is served as a browser would, for each name. */
export async function certificate(target: Target, names: string[], { acme, front }: Circumstances = {}) {
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

/** Whether visitors get another certificate, from what is in front. If that is not reached: unless it speaks the PROXY protocol. */
async function endsTls(target: Target, own: PeerCertificate): Promise<boolean> {
  const front = { ...target, host: target.name, port: target.publicPort, proxyProtocol: false };
  const found = await served(front).catch(() => undefined);
  return found ? found.peer.fingerprint256 !== own.fingerprint256 : !target.proxyProtocol;
}

/** `isInner`: a load balancer in front may have another certificate. */
type How = { acme?: string; isInner?: boolean; now?: number };

/** Classifies a certificate and the error of its verification: names, life and chain are an answer each. */
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
  // OpenSSL looks at dates when the chain leads to a CA that is known.
  if (!error || /^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$|ALTNAME/.test(error)) return ok(CHECK, "its chain is trusted");
  // A public CA says where its own certificate is; without that, a chain that ends early is that of a private CA.
  if (/SELF_SIGNED_CERT_IN|ISSUER/.test(error) || (/LEAF/.test(error) && !peer.infoAccess)) {
    const found = `from the CA '${peer.issuer.CN ?? peer.issuer.O}', which public clients do not know`;
    return warning(CHECK, found, "give clients this CA, or use a certificate of a public one");
  }
  if (/LEAF/.test(error))
    return failed(CHECK, words(error), acme ?? "TLS_CERT_FILE must hold the whole chain (fullchain.pem)");
  return untrusted(CHECK, words(error), acme ?? "use a certificate of a public CA");
}

/** Says whether the pair on disk is the one that is served, and whether it is renewed. Takes the proxy's metrics. `unreadable`: what it cannot read. */
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
