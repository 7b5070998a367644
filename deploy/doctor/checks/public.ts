import { lookup } from "node:dns/promises";
import { exchange, open, openTls, request, type Target } from "../http.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";
import { isLocal } from "./certificate.ts";
import { NO_SUCH_PAGE } from "./page.ts";

/**
 * Asks the served name for a page that no app has, as a browser would: DNS, HTTPS, this proxy, 404 that no crawler indexes, HTTP/3 offered. One
 * request for each name. From outside, the name may be this machine's own. Never rejects.
 */
export async function publicAddress(target: Target, isHttp3Off = false, isOutside = false): Promise<Result[]> {
  const check = "public address";
  const { name, publicPort = 443 } = target;
  if (isLocal(name) && !isOutside)
    return [unknown(check, `${name} is this machine alone`, "set SERVER_NAME to the name that people type")];
  const address = await lookup(name).catch((error) => reason(error));
  if (typeof address === "string")
    return [failed(check, `${name} does not resolve (${address})`, "point its DNS record here")];
  const where = `${name} (${address.address}) port ${publicPort}`;
  const outside = { ...target, host: name, port: publicPort, proxyProtocol: false };
  const answer = await request(outside, `${target.basePath}${NO_SUCH_PAGE}`).catch((error) => reason(error));
  if (typeof answer === "string")
    return [
      failed(
        check,
        `${where} does not answer over HTTPS (${answer})`,
        "open the port in the firewall, or check DNS and HTTPS_PORT; a network that does not lead back to itself looks the same",
      ),
    ];
  const { status, headers } = answer;
  if (status === 421) return [failed(check, `421: the proxy does not serve the name ${name}`, "set SERVER_NAME to it")];
  if (!headers["x-request-id"])
    return [
      failed(
        check,
        `${where} answers ${status}, but not this proxy`,
        "point its DNS record here, or check what is in front",
      ),
    ];
  const results = [ok(check, `${where} answers over HTTPS`)];
  if (status === 404 && !String(headers["x-robots-tag"]).includes("noindex"))
    results.push(failed("unknown page", "404 without noindex", "something in front removes X-Robots-Tag"));
  else if (status !== 404)
    results.push(
      unknown(
        "unknown page",
        `${status} instead of 404: crawlers take it for a page`,
        "docker compose logs web, if it is 5xx",
      ),
    );
  if (!isHttp3Off && !/\bh3=/.test(String(headers["alt-svc"])))
    results.push(unknown("http/3", "not offered", "HTTP3=on offers it"));
  return results;
}

/** Checks that plain HTTP at `host`:`port` redirects to HTTPS. */
export async function redirect(target: Target, host: string, port: number): Promise<Result[]> {
  const createConnection = () => open({ ...target, host, port });
  const answer = await exchange({ createConnection, path: "/", headers: { Host: target.name } }).catch((error) =>
    reason(error),
  );
  if (typeof answer === "string")
    return [failed("redirect", `port ${port} does not answer (${answer})`, "open it, or check HTTP_PORT")];
  const { status, headers } = answer;
  if (status >= 301 && status <= 308 && headers.location?.startsWith("https://"))
    return [ok("redirect", `plain HTTP leads to HTTPS (${status})`)];
  return [
    failed(
      "redirect",
      `plain HTTP answers ${status} instead of a redirect to HTTPS`,
      "let HTTP_PORT lead to the proxy's port 8080",
    ),
  ];
}

/** Checks that HTTP/2 is negotiated. */
export async function http2(target: Target): Promise<Result[]> {
  const socket = await openTls(target, ["h2", "http/1.1"]);
  const protocol = socket.alpnProtocol;
  socket.destroy();
  if (protocol === "h2") return [ok("http/2", "negotiated")];
  return [failed("http/2", "not negotiated", "something in front ends TLS: turn HTTP/2 on there")];
}
