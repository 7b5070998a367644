import { readFileSync } from "node:fs";
import { exchange, probeEnvelope, request, type Target } from "../http.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";

const headers = { "Content-Type": "text/plain;charset=UTF-8" };

/** Set by the proxy's inner listener alone, which browsers do not reach: proxy/templates/spool-upstream.conf. */
const OUTCOME = "x-envelope-outcome";

const fixes: Record<number, string> = {
  401: "copy SENTRY_DSN from the project's Client Keys page",
  403: "copy SENTRY_DSN from the project's Client Keys page, and check that the key is active",
  404: "TUNNEL_PATH leads elsewhere: is this the path that the proxy was started with?",
  429: "rate limited: TUNNEL_RATE_PER_CLIENT, or the project's quota",
  503: "neither ingest nor spool accepted it: docker compose logs --tail 20 spool",
};
const refused = (check: string, status: number) =>
  failed(
    check,
    `a probe envelope was answered ${status}`,
    fixes[status] ?? `docker compose logs proxy: its lines with "route":"tunnel"`,
  );

/** Sends a probe envelope through the tunnel. Without a DSN (from outside, where it is not known) only whether the tunnel answers is checked. */
export async function envelope(target: Target, dsn: string | undefined): Promise<Result[]> {
  const path = target.tunnelPath;
  if (dsn) {
    const { status } = await request(target, path, { method: "POST", headers, body: probeEnvelope(dsn) });
    return [status === 200 ? ok("tunnel", `${path} accepted a probe envelope`) : refused("tunnel", status)];
  }
  const { status } = await request(target, path);
  if (status === 405) return [ok("tunnel", `${path} answers; no envelope was sent, as no SENTRY_DSN is known here`)];
  return [failed("tunnel", `GET ${path} answers ${status} instead of 405`, "set TUNNEL_PATH to the deployment's")];
}

/** Sends a probe envelope as web does, to the proxy's inner listener, which says whether the ingest or the spool answered. */
export async function serverTunnel(address: string, dsn: string): Promise<Result[]> {
  const check = "server tunnel";
  const { hostname: host, port, pathname: path } = new URL(address);
  const answer = await exchange({ host, port, path }, { method: "POST", headers, body: probeEnvelope(dsn) }).catch(
    (error) => reason(error),
  );
  if (typeof answer === "string")
    return [failed(check, `${address} does not answer (${answer})`, "docker compose logs proxy")];
  if (answer.status !== 200) return [refused(check, answer.status)];
  if (answer.headers[OUTCOME] !== "queued") return [ok(check, "a probe envelope reached the ingest through the proxy")];
  return [
    failed(
      check,
      "a probe envelope was queued in the spool",
      "the proxy cannot reach the ingest, or found it down: see the line on the ingest",
    ),
  ];
}

/** Checks that the tunnel relays to no project but the configured ones. */
export async function foreignProject(target: Target): Promise<Result[]> {
  const body = probeEnvelope("https://0123456789abcdef0123456789abcdef@o1.ingest.sentry.io/1");
  const { status } = await request(target, `${target.tunnelPath}?o=1&p=1`, { method: "POST", headers, body });
  if (status === 403) return [ok("foreign project", "rejected (403)")];
  return [
    failed(
      "foreign project",
      `answered ${status} instead of 403`,
      "is this tunnel Culvert's? Anyone could send to their own project through it",
    ),
  ];
}

/** Compares the tunnel's path with the rules of blockers that proxy/entrypoint.d/blocked-paths.sh uses. */
export function blockers(path: string, dsnList: string, rules = blockedPaths()): Result[] {
  const rule = (address: string) => rules.find((text) => `${address}|`.includes(text));
  const fix = "use a path that says nothing, such as TUNNEL_PATH=/k7f2a9";
  const bare = rule(path);
  if (bare) return [failed("ad-blockers", `${path} is on their lists (rule ${bare})`, fix)];
  const withArguments = dsnList.includes(".sentry.io") && rule(`${path}?o=1&p=2`);
  if (!withArguments) return [ok("ad-blockers", `${path} is on none of their lists`)];
  return [
    unknown(
      "ad-blockers",
      `${path} passes, but not with the arguments of an app's tunnelRoute (rule ${withArguments})`,
      fix,
    ),
  ];
}
const blockedPaths = () =>
  readFileSync(new URL("../../../proxy/entrypoint.d/blocked-paths", import.meta.url), "utf8")
    .split("\n")
    .filter(Boolean);
