import { lookup } from "node:dns/promises";
import { exchange, request, type Target } from "../http.ts";
import { errorText, failed, ok, type Result, rule, unanswered, warning } from "../result.ts";

/** Asks the served name as a browser would: DNS, HTTPS, this proxy. Other paths may be another server's. */
export async function publicAddress(target: Target): Promise<Result[]> {
  const check = "public address";
  const { name, publicPort: port } = target;
  const address = await lookup(name).catch(errorText);
  if (typeof address === "string")
    return [failed(check, `${name} does not resolve (${address})`, "point its DNS record here")];
  const where = `${name}:${port} (${address.address})`;
  const outside = { ...target, host: name, port, proxyProtocol: false };
  const answer = await request(outside, target.basePath + target.tunnelPath).catch(errorText);
  if (typeof answer === "string") {
    const fix = "check firewall, DNS and HTTPS_PORT; some networks do not lead back to themselves";
    return [failed(check, `${where} does not answer over HTTPS (${answer})`, fix, unanswered(0, "proxy"))];
  }
  if (answer.status === 421) return [failed(check, `the proxy does not serve the name ${name}`, "set SERVER_NAME")];
  if (answer.headers["x-request-id"]) return [ok(check, `${where} answers over HTTPS`)];
  const found = `${where} answers ${answer.status}, but not this proxy`;
  return [failed(check, found, "check DNS and what is in front", unanswered(answer.status, "proxy"))];
}

/** Checks that plain HTTP at the host's port 80 leads to HTTPS. */
export async function redirect({ host, name }: Target, port = 80): Promise<Result[]> {
  const answer = await exchange({ host, port, path: "/", headers: { Host: name } }).catch(errorText);
  const found = typeof answer === "string" ? answer : `${answer.status} ${answer.headers.location ?? ""}`;
  const wrong = `plain HTTP on port ${port}: ${found}`;
  const fix = "HTTP_PORT=80, and open it in the firewall";
  return [rule("redirect", /^30\d https:/.test(found), "plain HTTP leads to HTTPS", wrong, fix)];
}

/** Checks a page and its policy. `logs` and a service's name are what to read. */
export async function page(target: Target, path: string, logs = "docker compose logs --tail 20"): Promise<Result[]> {
  const answer = await request(target, path, { headers: { Accept: "text/html" } }).catch(errorText);
  if (typeof answer === "string")
    return [failed("page", `${path} does not answer (${answer})`, `${logs} proxy`, unanswered(0, "proxy", "web"))];
  const { status, headers, body } = answer;
  // The tunnel alone has no page: proxy/templates/web-off.
  if (body.endsWith("(WEB=off)\n")) return [];
  const directive = forbidsTunnel(String(headers["content-security-policy"] ?? ""), body, target);
  return status < 500 && directive ? [csp(failed, directive)] : [served(path, status, `${logs} web`)];
}

/** Classifies the status of a page; 0 if there was no answer. */
export function served(path: string, status: number, fix: string): Result {
  const found = status ? `${path} answers ${status}` : `${path} does not answer`;
  if (status === 0 || status >= 500) return failed("page", found, fix, unanswered(status, "proxy", "web"));
  if (status !== 404 && status !== 410) return ok("page", found);
  return warning("page", found, "BASE_PATH must be the basePath of next.config; PAGE=/path asks for another page");
}

/** The result for an app whose own policy forbids the tunnel by this directive. */
export function csp(state: typeof failed, directive: string): Result {
  const found = `the app's own policy has ${directive}, so browsers send no events through the tunnel`;
  return state("csp", found, "add 'self' to its connect-src");
}

type Tunnel = Pick<Target, "name" | "publicPort" | "tunnelPath">;

/** Returns the directive of a page's policies, in header and markup, that forbids requests to its own tunnel. */
export function forbidsTunnel(header: string, html: string, tunnel: Tunnel): string | undefined {
  // Each tag ends where the next one begins, so that a hostile page is read once.
  const tag = html.match(/<meta\b[^<>]*/gi)?.find((text) => /\bhttp-equiv="content-security-policy"/i.test(text));
  const meta = /\bcontent="([^"]*)"/i.exec(tag ?? "")?.[1] ?? "";
  const policies = [...header.split(","), meta.replaceAll("&#x27;", "'")];
  return policies
    .map((policy) => /(?:^|;)\s*(connect-src\b[^;]*)/i.exec(policy) ?? /(?:^|;)\s*(default-src\b[^;]*)/i.exec(policy))
    .find((found) => found && !found[1]?.split(/\s+/).some((source) => allows(source, tunnel)))?.[1];
}

/** Whether a source of a policy matches the tunnel: https://www.w3.org/TR/CSP3/#match-url-to-source-expression */
function allows(source: string, { name, publicPort, tunnelPath }: Tunnel): boolean {
  if (/^(?:\*|https?:|'self')$/i.test(source)) return true;
  const [, host = "", port = "443", path = "/"] =
    /^(?:https?:\/\/)?([^:/]+|\[.+\])(?::(\d+|\*))?(\/.*)?$/i.exec(source) ?? [];
  const [allowed, served] = [host.toLowerCase(), name.toLowerCase()];
  const isOfHost = allowed.startsWith("*") ? served.endsWith(allowed.slice(1)) : allowed === served;
  // A path that ends with a slash is a folder's.
  const isOfPath = path.endsWith("/") ? tunnelPath.startsWith(path) : path === tunnelPath;
  return host !== "" && isOfHost && isOfPath && (port === "*" || Number(port) === publicPort);
}
