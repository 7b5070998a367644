import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { openTls, type Target } from "../http.ts";
import { type Sample, sum } from "../metrics.ts";
import { failed, ok, type Result, unknown } from "../result.ts";

const CHECK = "certificate";
const DAY_MS = 86_400_000;
/** Of its life; clients of ACME renew at a third. */
const MIN_LIFE_LEFT = 1 / 6;

const problems: Record<string, [problem: string, fix: string]> = {
  CERT_HAS_EXPIRED: ["has expired", "renew it, and copy it over TLS_CERT_FILE"],
  CERT_NOT_YET_VALID: ["is not valid yet", "set this machine's clock"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["is self-signed", "use a certificate of a public CA, if the site is public"],
  SELF_SIGNED_CERT_IN_CHAIN: ["is from a private CA", "use a certificate of a public CA, if the site is public"],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    "is from a CA that browsers do not trust",
    "use a certificate of a public CA, if the site is public",
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "lacks its intermediate certificate, or its CA is private",
    "TLS_CERT_FILE must hold the whole chain (fullchain.pem)",
  ],
};

/** Returns what a code of Node's certificate verification means. https://nodejs.org/api/tls.html#x509-certificate-error-codes */
export const certificateProblem = (code: string) =>
  problems[code] ? `the certificate ${problems[code][0]} (${code})` : code;

/** What the check depends on, beside the certificate. */
export interface Context {
  /** Every name of the site; the first is the main one. */
  names: string[];
  /** Whether a load balancer in front may have the certificate that browsers see. */
  isInner?: boolean;
  /** With ACME=on, the last line of its log. */
  acme?: string | undefined;
  /** The proxy's metrics. */
  metrics?: Sample[];
}

/** Checks the certificate as a browser would, for each name; that it was renewed; and that the pair on disk is the one that is served. */
export async function certificate(target: Target, context: Context): Promise<Result[]> {
  const socket = await openTls(target);
  const peer = socket.getPeerCertificate(true);
  // The type promises an Error, Node gives its code.
  const error = socket.authorizationError as unknown as string | undefined;
  socket.destroy();
  return [...classify(peer, error && String(error), context), ...files(context)];
}

/** Classifies a certificate and the error of its verification. */
export function classify(
  peer: PeerCertificate,
  error: string | undefined,
  { names, isInner, acme }: Context,
  now = Date.now(),
): Result[] {
  const issuer = [peer.issuer?.CN].flat()[0] ?? "an unnamed CA";
  const end = Date.parse(peer.valid_to);
  const left = Math.floor((end - now) / DAY_MS);
  const said = acme === undefined ? undefined : `docker compose logs acme. Its last line: ${acme}`;
  if (issuer.startsWith("Culvert development CA")) {
    const found = "a development certificate, which browsers do not trust by themselves";
    if (said) return [failed(CHECK, `${found}: the CA has issued none yet`, said)];
    const fix = "set ACME=on, or TLS_CERT_FILE and TLS_KEY_FILE, before others use it";
    if (isInner) return [unknown(CHECK, `${found}; the load balancer of TRUSTED_PROXIES may have another`, fix)];
    return [names.every(isLocal) ? unknown(CHECK, found, fix) : failed(CHECK, found, fix)];
  }
  const without = names.filter((name) => checkServerIdentity(name, peer));
  if (without.length > 0)
    return [
      failed(
        CHECK,
        `${without.join(", ")}: the certificate is for ${(peer.subjectaltname ?? "no name").replaceAll("DNS:", "")}`,
        said ?? "use a certificate for every name of SERVER_NAME",
      ),
    ];
  if (error && error !== "ERR_TLS_CERT_ALTNAME_INVALID")
    return [failed(CHECK, `${names[0]}: ${certificateProblem(error)}`, said ?? problems[error]?.[1] ?? "replace it")];
  if ((end - now) / (end - Date.parse(peer.valid_from)) < MIN_LIFE_LEFT)
    return [
      failed(
        CHECK,
        `${left} days left, less than a sixth of its life`,
        said ?? "renew it; find out why it was not renewed",
      ),
    ];
  return [ok(CHECK, `${names.join(", ")}, by ${issuer}, trusted, ${left} days left`)];
}

/** What the proxy and deploy/acme say about the files. */
export function files({ acme, metrics = [] }: Context): Result[] {
  const results: Result[] = [];
  if (sum(metrics, "culvert_certificate_rejected") > 0)
    results.push(
      failed(
        CHECK,
        "TLS_CERT_FILE and TLS_KEY_FILE cannot be loaded; the previous pair is served",
        "docker compose logs proxy | grep TLS_ says why: copy both files again",
      ),
    );
  const failures = sum(metrics, "culvert_certificate_renewal_failures");
  if (failures > 0)
    results.push(
      failed("acme", `the renewal failed ${failures} times`, `docker compose logs acme. Its last line: ${acme}`),
    );
  else if (acme !== undefined) results.push(ok("acme", `on, no renewal failed`));
  return results;
}

/** Whether a name leads only to this machine. */
export const isLocal = (name: string) =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.[\d.]+$/.test(name);
