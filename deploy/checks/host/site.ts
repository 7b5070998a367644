import { lookup } from "node:dns/promises";
import { isLocal } from "../certificate.ts";
import { exchange, request, type Target } from "../http.ts";
import { TRACE_PREFIX } from "../ingest.ts";
import { failed, ok, type Result, reason, warning } from "../result.ts";
import { type Facts, list } from "./facts.ts";

/** Fewer requests say nothing about where clients come from. */
const MIN_REQUESTS = 20;
const privateAddress = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe80:)/;

/** Asks the served name as a browser would: DNS, HTTPS, this proxy. */
export async function publicAddress(target: Target): Promise<Result[]> {
  const check = "public address";
  const { name, publicPort: port } = target;
  const address = await lookup(name).catch(reason);
  if (typeof address === "string")
    return [failed(check, `${name} does not resolve (${address})`, "point its DNS record here")];
  const where = `${name}:${port} (${address.address})`;
  const outside = { ...target, host: name, port, proxyProtocol: false };
  const answer = await request(outside, `${target.basePath}/`).catch(reason);
  if (typeof answer === "string") {
    const fix = "check firewall, DNS and HTTPS_PORT; some networks do not lead back to themselves";
    return [failed(check, `${where} does not answer over HTTPS (${answer})`, fix)];
  }
  if (answer.status === 421) return [failed(check, `the proxy does not serve the name ${name}`, "set SERVER_NAME")];
  if (answer.headers["x-request-id"]) return [ok(check, `${where} answers over HTTPS`)];
  return [failed(check, `${where} answers ${answer.status}, but not this proxy`, "check DNS and what is in front")];
}

/** Checks that plain HTTP at the host's port 80 leads to HTTPS. */
export async function redirect({ host, name }: Target, port = 80): Promise<Result[]> {
  const answer = await exchange({ host, port, path: "/", headers: { Host: name } }).catch(reason);
  const found = typeof answer === "string" ? answer : `${answer.status} ${answer.headers.location ?? ""}`;
  if (/^30\d https:/.test(found)) return [ok("redirect", "plain HTTP leads to HTTPS")];
  return [failed("redirect", `plain HTTP on port ${port}: ${found}`, "HTTP_PORT=80, and open it in the firewall")];
}

/** Asks for a page: it answers, and its policy allows the tunnel. */
export async function page(target: Target, path: string, names: string[]): Promise<Result[]> {
  const answer = await request(target, path, { headers: { Accept: "text/html" } }).catch(reason);
  if (typeof answer === "string")
    return [failed("page", `${path} does not answer (${answer})`, "docker compose logs --tail 20 proxy")];
  const { status, headers, body } = answer;
  if (status >= 500) return [failed("page", `${path} answers ${status}`, "docker compose logs --tail 20 web")];
  const directive = forbidsTunnel(String(headers["content-security-policy"] ?? ""), body, names);
  if (directive) return [csp(failed, directive)];
  if (status !== 404) return [ok("page", `${path} answers ${status}`)];
  const fix = "BASE_PATH must be the basePath of next.config; PAGE=/path asks for another page";
  return [warning("page", `${path} answers 404`, fix)];
}

/** The result, failed or a warning, for an app whose own policy forbids the tunnel by this directive. */
export function csp(state: typeof failed, directive: string): Result {
  const found = `the app's own policy has ${directive}, so browsers send no events through the tunnel`;
  return state("csp", found, "add 'self' to its connect-src");
}

/** Returns the directive of a page's policies, in header and markup, that forbids requests to its own site, if any. */
export function forbidsTunnel(header: string, html: string, names: string[]): string | undefined {
  const meta = /<meta[^>]*http-equiv="content-security-policy"[^>]*content="([^"]*)"/i.exec(html)?.[1] ?? "";
  const policies = [...header.split(","), meta.replaceAll("&#x27;", "'")];
  const isOwn = (source: string) =>
    /^(?:\*|https:|'self')$/i.test(source) || names.some((name) => source.includes(name));
  return policies
    .map((policy) => /(?:^|;)\s*(connect-src\b[^;]*)/i.exec(policy) ?? /(?:^|;)\s*(default-src\b[^;]*)/i.exec(policy))
    .find((found) => found && !found[1]?.split(/\s+/).some(isOwn))?.[1];
}

/** Asks web itself for the tunnel's path: the tunnel hides a page of the app there. */
export async function hiddenPage(target: Target, web = { host: "web", port: 3000 }): Promise<Result[]> {
  const path = target.basePath + target.tunnelPath;
  const { status, headers } = await exchange({ ...web, path }, { headers: { Accept: "text/html" } });
  // Some apps redirect every address.
  if (status !== 200 || !/html/.test(headers["content-type"] ?? "html")) return [];
  return [failed("tunnel path", `the app has a page at ${path}, which the tunnel hides`, "another TUNNEL_PATH")];
}

/** Checks that TRUSTED_PROXIES names the load balancer in front, and nobody else. */
export function clients({ log, containers }: Facts, settings: Record<string, string>): Result[] {
  const trusted = list(settings.TRUSTED_PROXIES);
  // fc00::/7 is the widest network that is private.
  const isWide = (network: string) => Number(network.split("/")[1] ?? 32) < (network.includes(":") ? 7 : 8);
  const wide = trusted.filter(isWide).join(", ");
  const forged = `TRUSTED_PROXIES has ${wide}: any client can forge its IP, host and scheme`;
  if (wide) return [failed("client IP", forged, "list only your load balancers")];
  const isPlain = settings.TUNNEL_CLIENT_IP !== "withhold" && !isLocal(settings.SERVER_NAME || "localhost");
  if (trusted.length > 0 || !isPlain) return [];
  // Requests of the stack's containers are none of clients, nor the proxy's own. Those through this machine's published ports may have a
  // gateway's address.
  const networks = containers.flatMap(({ NetworkSettings }) => Object.values(NetworkSettings.Networks));
  const isContainer = (address: string) =>
    address.startsWith("127.") ||
    networks.some(({ Gateway }) => Gateway && address !== Gateway && address.startsWith(Gateway.replace(/\d+$/, "")));
  const addresses = log
    .filter(({ outcome, trace_id }) => !outcome && !trace_id?.startsWith(TRACE_PREFIX))
    .flatMap(({ client }) => (client && !isContainer(client) ? client : []));
  const different = [...new Set(addresses)];
  const areInner = different.length <= 2 && different.every((one) => privateAddress.test(one));
  if (addresses.length < MIN_REQUESTS || !areInner) return [];
  const found = `all ${addresses.length} requests of the last five minutes come from ${different.join(" and ")}`;
  // To trust it would mean to believe every client.
  if (different.every((one) => networks.some(({ Gateway }) => Gateway === one))) {
    const hidden = `${found}, the gateway of a Docker network: clients come by IPv6, or the engine is rootless`;
    return [
      failed("client IP", hidden, "docs/operations.md, IPv6. A program of this host in front: deploy/front/http.yml"),
    ];
  }
  return [failed("client IP", found, "name the load balancer in front in TRUSTED_PROXIES")];
}
