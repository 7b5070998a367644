import { isIP } from "node:net";
import type { PeerCertificate } from "node:tls";
import { openTls, type Target } from "../probe/target.ts";
import { failed, ok, type Result, unknown } from "../result.ts";

const CHECK = "certificate";
const DAY_MS = 86_400_000;

/** Of its life; clients of ACME renew at a third. */
const MIN_LIFE_LEFT = 1 / 6;

const problems: Record<string, string> = {
  CERT_HAS_EXPIRED: "the certificate has expired",
  CERT_NOT_YET_VALID: "the certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another name",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is from a private CA",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the certificate is from a CA that browsers do not trust",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the chain lacks its intermediate certificate, or its CA is private",
};

/** Returns what a code of Node's certificate verification means. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export const certificateProblem = (code: string) => (problems[code] ? `${problems[code]} (${code})` : code);

/**
 * Checks the certificate as a browser would: chain, name, time; and how much of its life is left. `inner`: a load balancer in front may
 * have the one that browsers see. Rejects without a TLS handshake.
 */
export async function certificate(target: Target, inner = false, now = Date.now()): Promise<Result[]> {
  const socket = await openTls(target);
  const peer = socket.getPeerCertificate(true);
  // The type promises an Error, Node gives its code.
  const error = socket.authorizationError as unknown as string | undefined;
  socket.destroy();
  return classify(peer, error && String(error), target.name, now, inner);
}

/** Classifies a certificate and the error of its verification for a name. */
export function classify(
  peer: PeerCertificate,
  error: string | undefined,
  name: string,
  now: number,
  inner = false,
): Result[] {
  const issuer = [peer.issuer?.CN].flat()[0] ?? "an unnamed CA";
  const end = Date.parse(peer.valid_to);
  const left = Math.floor((end - now) / DAY_MS);
  const life = (end - now) / (end - Date.parse(peer.valid_from));
  if (issuer.startsWith("Culvert development CA")) {
    const fix = "set ACME=on, or TLS_CERT_FILE and TLS_KEY_FILE, before others use it";
    const found = `a development certificate, which browsers do not trust by themselves`;
    if (inner) return [unknown(CHECK, `${found}; the load balancer of TRUSTED_PROXIES may have another`, fix)];
    return [isLocal(name) ? unknown(CHECK, found, fix) : failed(CHECK, found, fix)];
  }
  if (error) return [failed(CHECK, `${name}: ${certificateProblem(error)}`, fixFor(error))];
  if (life < MIN_LIFE_LEFT)
    return [
      failed(CHECK, `${left} days left, less than a sixth of its life`, "renew it; find out why it was not renewed"),
    ];
  return [ok(CHECK, `${name}, by ${issuer}, trusted, ${left} days left`)];
}

function fixFor(error: string): string {
  if (error === "CERT_HAS_EXPIRED") return "renew it, and copy it over TLS_CERT_FILE";
  if (error === "ERR_TLS_CERT_ALTNAME_INVALID") return "use a certificate for SERVER_NAME";
  if (error === "UNABLE_TO_VERIFY_LEAF_SIGNATURE") return "TLS_CERT_FILE must hold the whole chain (fullchain.pem)";
  return "use a certificate of a public CA, if the site is public";
}

/** Whether a name leads only to this machine. */
export const isLocal = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || (isIP(name) > 0 && name.startsWith("127."));
