import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { openTls, type Target } from "./http.ts";
import { words } from "./ingest.ts";
import { sum } from "./metrics.ts";
import { failed, ok, type Result, warning } from "./result.ts";

const CHECK = "certificate";
const DAY_MS = 86_400_000;
/** Of its life; clients of ACME renew at a third. */
const MIN_LIFE_LEFT = 1 / 6;

const fixes: Record<string, string> = {
  CERT_HAS_EXPIRED: "renew it, and copy it over TLS_CERT_FILE (Kubernetes: the Secret that the proxy mounts)",
  CERT_NOT_YET_VALID: "set this machine's clock (NTP)",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "TLS_CERT_FILE must hold the whole chain (fullchain.pem)",
};

/** Checks the certificate that is served as a browser would, for each name. `acme`, with ACME=on, says where its errors are. */
export async function certificate(target: Target, names: string[], acme?: string, isInner = false): Promise<Result[]> {
  const socket = await openTls(target);
  // The type promises an Error, Node gives its code.
  const error = socket.authorizationError as unknown as string | undefined;
  const peer = socket.getPeerCertificate();
  socket.destroy();
  return [classify(peer, error && String(error), names, acme, isInner)];
}

/** Classifies a certificate and the error of its verification. `isInner`: a load balancer in front may have another. */
export function classify(
  peer: PeerCertificate,
  error: string | undefined,
  names: string[],
  acme?: string,
  isInner = false,
  now = Date.now(),
): Result {
  const [from, end] = [peer.valid_from, peer.valid_to].map((date) => Date.parse(date)) as [number, number];
  const days = Math.floor((end - now) / DAY_MS);
  const untrusted = isInner || names.every(isLocal) ? warning : failed;
  if (String(peer.issuer?.CN).startsWith("Culvert development CA")) {
    const found = "a development certificate, which browsers do not trust";
    if (acme) return failed(CHECK, `${found}: the CA has issued none yet`, acme);
    return untrusted(CHECK, found, "set ACME=on, or TLS_CERT_FILE and TLS_KEY_FILE");
  }
  const without = names.filter((name) => checkServerIdentity(name, peer));
  if (without.length > 0) {
    const found = `${without.join(", ")}: the certificate is for ${peer.subjectaltname?.replaceAll("DNS:", "")}`;
    return failed(CHECK, found, acme ?? "use a certificate for every name of SERVER_NAME");
  }
  // Trust is verified first: an expired certificate of an unknown CA has the code of the CA.
  const code = end < now ? "CERT_HAS_EXPIRED" : from > now ? "CERT_NOT_YET_VALID" : error;
  // A public CA says where its own certificate is; without that, a chain that ends early is that of a private CA.
  const isPrivate = /SELF_SIGNED_CERT_IN|ISSUER/.test(code ?? "") || (/LEAF/.test(code ?? "") && !peer.infoAccess);
  if (isPrivate && !acme) {
    const found = `from the CA '${peer.issuer.CN ?? peer.issuer.O}', which public clients do not know`;
    return warning(CHECK, found, "give clients this CA, or use a certificate of a public one");
  }
  if (code && code !== "ERR_TLS_CERT_ALTNAME_INVALID")
    return (fixes[code] ? failed : untrusted)(
      ...[CHECK, words(code), acme ?? fixes[code] ?? "use a certificate of a public CA"],
    );
  if ((end - now) / (end - from) < MIN_LIFE_LEFT)
    return warning(CHECK, `${days} days left, less than a sixth of its life`, acme ?? "renew it");
  return ok(CHECK, `${names.join(", ")}: trusted, ${days} days left`);
}

/** Says whether the pair on disk is the one that is served, and whether it is renewed. Takes the proxy's metrics. */
export function renewal(metrics: string, acme = "docker compose logs acme"): Result[] {
  const failures = sum(metrics, "culvert_certificate_renewal_failures");
  const results: Result[] = [];
  if (sum(metrics, "culvert_certificate_rejected") > 0) {
    const found = "TLS_CERT_FILE and TLS_KEY_FILE cannot be loaded; the previous pair is served";
    results.push(failed(CHECK, found, "copy both files again: docker compose logs proxy | grep TLS_ says why"));
  }
  if (failures > 0) results.push(failed("acme", `${failures} failed renewals`, acme));
  return results;
}

/** Whether a name leads only to this machine. */
export const isLocal = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.[\d.]+$/.test(name);
