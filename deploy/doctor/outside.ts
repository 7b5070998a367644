import { certificate } from "./checks/certificate.ts";
import { clock } from "./checks/ingest.ts";
import { page } from "./checks/page.ts";
import { http2, http3, redirect, unknownPage } from "./checks/public.ts";
import { blockers, envelope, foreignProject } from "./checks/tunnel.ts";
import { request } from "./probe/request.ts";
import type { Target } from "./probe/target.ts";
import { attempt, failed, ok, type Result, reason, unknown } from "./result.ts";

/** Takes an address such as https://app.example.com/shop, and returns the target. Throws if it is none. */
export function outsideTarget(address: string, tunnelPath: string): Target {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:")
    throw new Error(`culvert: BASE_URL: '${address}' is not an https address: use one such as https://app.example.com`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: Number(url.port || 443),
    name: host,
    ...(url.port && { publicPort: Number(url.port) }),
    basePath: url.pathname.replace(/\/+$/, ""),
    tunnelPath,
  };
}

/** Runs the checks that need nothing but the deployment's address. Never rejects. */
export async function checkOutside(target: Target, dsn: string | undefined, path: string): Promise<Result[]> {
  const check = "public address";
  const answer = await request(target, `${target.basePath}/`).catch((error) => reason(error));
  if (typeof answer === "string")
    return [
      failed(
        check,
        `${target.name}:${target.port} does not answer over HTTPS (${answer})`,
        "check DNS, the firewall, and that the stack runs",
      ),
    ];
  const found = answer.headers["x-request-id"]
    ? ok(check, `${target.name} answers over HTTPS`)
    : unknown(check, `${target.name} answers, but without X-Request-Id`, "is Culvert's proxy behind it?");
  const results = await Promise.all([
    attempt("certificate", () => certificate(target)),
    attempt("redirect", () =>
      target.publicPort
        ? [unknown("redirect", "not tried: the address has a port of its own")]
        : redirect(target, target.host, 80),
    ),
    attempt("http/2", () => http2(target)),
    attempt("http/3", () => http3(target, false)),
    attempt("unknown page", () => unknownPage(target)),
    attempt("tunnel", () => envelope(target, dsn)),
    attempt("foreign project", () => foreignProject(target)),
    attempt("ad-blockers", () => blockers(target.tunnelPath, dsn ?? "")),
    attempt("page", () => page(target, path || `${target.basePath}/`)),
    attempt("clock", () => clock(answer.headers.date)),
  ]);
  return [found, ...results.flat()];
}
