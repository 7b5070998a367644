import { lookup } from "node:dns/promises";
import { answersQuic } from "../probe/quic.ts";
import { type Answer, exchange, request } from "../probe/request.ts";
import { open, openTls, type Target } from "../probe/target.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";
import { isLocal } from "./certificate.ts";

/** A page that no app has. */
const NO_SUCH_PAGE = "/culvert-doctor-no-such-page";

/** Checks that the served name leads to something that answers over HTTPS as this proxy does. Rejects never. */
export async function publicAddress(target: Target): Promise<Result[]> {
  const check = "public address";
  const { name, publicPort = 443 } = target;
  if (isLocal(name))
    return [unknown(check, `${name} is this machine alone`, "set SERVER_NAME to the name that people type")];
  const address = await lookup(name).catch((error) => reason(error));
  if (typeof address === "string")
    return [failed(check, `${name} does not resolve (${address})`, "point its DNS record here")];
  try {
    const { status, headers } = await request(
      { ...target, host: name, port: publicPort, proxyProtocol: false },
      `${target.basePath}${NO_SUCH_PAGE}`,
    );
    if (headers["x-request-id"])
      return [ok(check, `${name} (${address.address}) answers over HTTPS on port ${publicPort}`)];
    return [
      failed(
        check,
        `${name} (${address.address}) answers ${status}, but not this proxy`,
        "point its DNS record here, or check what is in front",
      ),
    ];
  } catch (error) {
    return [
      failed(
        check,
        `${name} (${address.address}) port ${publicPort} does not answer over HTTPS (${reason(error)})`,
        "open the port in the firewall, or check HTTPS_PORT; a network that does not lead back to itself looks the same",
      ),
    ];
  }
}

/** Checks that plain HTTP at `host`:`port` redirects to HTTPS. */
export async function redirect(target: Target, host: string, port: number): Promise<Result[]> {
  const check = "redirect";
  const createConnection = () => open({ ...target, host, port });
  const answer = await exchange({ createConnection, path: "/", headers: { Host: target.name } }).catch((error) =>
    reason(error),
  );
  if (typeof answer === "string")
    return [failed(check, `port ${port} does not answer (${answer})`, "open it, or check HTTP_PORT")];
  const { status, headers } = answer;
  if (status >= 301 && status <= 308 && headers.location?.startsWith("https://"))
    return [ok(check, `plain HTTP leads to HTTPS (${status})`)];
  return [
    failed(
      check,
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

/** Checks that HTTP/3 is advertised and that something answers QUIC at that port; `off` when the setting says so. */
export async function http3(target: Target, off: boolean): Promise<Result[]> {
  const check = "http/3";
  if (off) return [ok(check, "off, as set")];
  const { headers } = await request(target, `${target.basePath}${NO_SUCH_PAGE}`);
  if (!/\bh3=/.test(String(headers["alt-svc"] ?? ""))) return [unknown(check, "not offered", "HTTP3=on offers it")];
  if (await answersQuic(target.host, target.port)) return [ok(check, "offered, and answers")];
  return [
    failed(
      check,
      `offered, but UDP port ${target.publicPort ?? 443} does not answer`,
      "open UDP in the firewall, or set HTTP3=off",
    ),
  ];
}

/** Checks what the answer for an unknown page tells crawlers. */
export async function unknownPage(target: Target): Promise<Result[]> {
  const check = "unknown page";
  const { status, headers }: Answer = await request(target, `${target.basePath}${NO_SUCH_PAGE}`);
  const robots = String(headers["x-robots-tag"] ?? "");
  if (status === 404 && robots.includes("noindex")) return [ok(check, "404, with noindex")];
  if (status === 404) return [failed(check, "404 without noindex", "something in front removes X-Robots-Tag")];
  if (status === 421)
    return [failed(check, `421: the proxy does not serve the name ${target.name}`, "set SERVER_NAME to it")];
  if (status >= 500) return [failed(check, `${status} instead of 404`, "docker compose logs web")];
  return [unknown(check, `${status} instead of 404: the app answers unknown pages itself`)];
}
