import { parseDsn } from "../../../proxy/spool/src/dsn.ts";
import { forbidsTunnel } from "../checks/site.ts";
import { list } from "../facts.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks which way the browser's events take, as far as the build shows it. */
export function browserEvents({ build, mentions, requests, settings }: AppFacts): Result {
  const check = "browser events";
  const path = settings.TUNNEL_PATH || "/monitoring";
  const route = build?.env?._sentryRewritesTunnelPath;
  if (route && ![path, `${settings.BASE_PATH ?? ""}${path}`].includes(route)) {
    const fix = `TUNNEL_PATH=${route}; with tunnelRoute: true it changes with every build: name a path`;
    return failed(check, `tunnelRoute is "${route}", TUNNEL_PATH "${path}"`, fix);
  }
  if (route) return ok(check, `tunnelRoute: "${route}"`);
  // Set at run time, it is in the page: within JSON in a string.
  const isInPage = requests.html.replaceAll("\\", "").includes(`"${path}"`);
  if (mentions.includes("tunnel path") || isInPage) return ok(check, `tunnel: "${path}"`);
  if (mentions.includes("tunnel: true")) return ok(check, "tunnel: true");
  return unknown(check, "no sign of the tunnel in the browser's code", `tunnel: "${path}" in instrumentation-client`);
}

/** Checks that the project of each DSN in the browser's code is configured: the proxy rejects envelopes of others. */
export function dsns({ build, dsns, mentions, settings }: AppFacts): Result[] {
  const isRoute = Boolean(build?.env?._sentryRewritesTunnelPath);
  // With `tunnel` to a path, the proxy replaces the DSN.
  if (!isRoute && !mentions.includes("tunnel: true")) return [];
  const name = (dsn: string) => [parseDsn(dsn)].map((one) => `project ${one?.project} at ${one?.host}`).join();
  const configured = [...list(settings.SENTRY_DSN), ...list(settings.TUNNEL_ALLOWED_DSNS)].map(name);
  return dsns.map((dsn) => {
    const self = "is not of sentry.io: tunnelRoute does not tunnel it";
    if (isRoute && !/\.sentry\.io$/.test(parseDsn(dsn)?.host ?? ""))
      return failed("dsn", `${name(dsn)} ${self}`, "tunnel instead of tunnelRoute");
    if (configured.includes(name(dsn))) return ok("dsn", `${name(dsn)}, as configured`);
    return failed("dsn", `${name(dsn)} is not configured`, "make it SENTRY_DSN, or add it to TUNNEL_ALLOWED_DSNS");
  });
}

/** Checks which way the server's events take, as far as the build shows it. */
export function serverEvents({ mentions }: AppFacts): Result {
  const check = "server events";
  const fix = "tunnel: process.env.SERVER_TUNNEL";
  if (mentions.includes("SERVER_TUNNEL")) return ok(check, "the server's code reads SERVER_TUNNEL");
  return unknown(check, "the server's code does not read SERVER_TUNNEL: they are lost while the ingest is down", fix);
}

/** Checks that the app's own policy allows the tunnel. */
export function policy({ requests: { policy, html }, settings }: AppFacts): Result[] {
  const directive = forbidsTunnel(policy, html, list(settings.SERVER_NAME || "localhost"));
  if (!directive) return [];
  const found = `the app's own policy has ${directive}, so browsers send no events through the tunnel`;
  return [unknown("csp", found, "add 'self' to its connect-src")];
}
