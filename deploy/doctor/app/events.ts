import { type Dsn, parseDsn } from "../../../proxy/spool/src/dsn.ts";
import { allowed } from "../checks/settings.ts";
import { blockers } from "../checks/tunnel.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks which way the browser's events take, as far as the build shows it. */
export function browserEvents({ build, dsns, mentions, requests, settings }: AppFacts): Result[] {
  const check = "browser events";
  const tunnelPath = settings.TUNNEL_PATH || "/monitoring";
  const route = build?.env?._sentryRewritesTunnelPath;
  if (!route) {
    if (mentions.tunnelPath) return [ok(check, `the browser's code names ${tunnelPath}`)];
    if (requests.html.includes(`"${tunnelPath}"`))
      return [ok(check, `${requests.path} names ${tunnelPath}, set at run time`)];
    if (mentions.tunnelTrue)
      return [ok(check, "tunnel: true, whose path the proxy computes from the DSN"), ...configuredDsns(dsns, settings)];
    if (dsns.length > 0)
      return [
        unknown(
          check,
          "the browser's code has a DSN, but not the tunnel's path",
          `tunnel: "${tunnelPath}" in instrumentation-client`,
        ),
      ];
    return [unknown(check, "no sign of the SDK in the browser's code", `tunnel: "${tunnelPath}", or tunnelRoute`)];
  }
  const dsnResults = configuredDsns(dsns, settings, /^o\d+\.ingest\.(?:[a-z]+\.)?sentry\.io$/);
  if (route !== tunnelPath && `${settings.BASE_PATH ?? ""}${tunnelPath}` !== route)
    return [
      failed(
        check,
        `tunnelRoute is "${route}", TUNNEL_PATH "${tunnelPath}"`,
        `TUNNEL_PATH=${route}; with tunnelRoute: true it changes with every build: name a path`,
      ),
      ...dsnResults,
    ];
  // The arguments that tunnelRoute adds are on lists of their own.
  if (blockers(route, ".sentry.io").some(({ state }) => state !== "ok"))
    return [
      unknown(
        check,
        `ad blockers block tunnelRoute: "${route}"`,
        'tunnelRoute: "/k7f2a9" in next.config, and TUNNEL_PATH=/k7f2a9',
      ),
      ...dsnResults,
    ];
  return [ok(check, `tunnelRoute: "${route}"`), ...dsnResults];
}

/** Checks that the project of each DSN is configured: tunnelRoute's arguments, or the path of `tunnel: true`, select it. `hosts` are those that the SDK tunnels. */
function configuredDsns(dsns: string[], settings: Record<string, string>, hosts = /./): Result[] {
  const configured = [settings.SENTRY_DSN ?? "", ...allowed(settings.TUNNEL_ALLOWED_DSNS)].flatMap(
    (dsn) => parseDsn(dsn) ?? [],
  );
  const same = (a: Dsn, b: Dsn) => a.host === b.host && a.project === b.project;
  return dsns
    .flatMap((dsn) => parseDsn(dsn) ?? [])
    .map((dsn) => {
      const name = `project ${dsn.project} at ${dsn.host}`;
      if (!hosts.test(dsn.host))
        return failed(
          "dsn",
          `${name} is not of sentry.io, for which alone the SDK tunnels`,
          "tunnel instead of tunnelRoute",
        );
      if (configured.some((one) => same(one, dsn))) return ok("dsn", `${name}, as configured`);
      return failed(
        "dsn",
        `the app was built for ${name}, which is not configured: its envelopes get 403`,
        "make its DSN SENTRY_DSN, or add it to TUNNEL_ALLOWED_DSNS",
      );
    });
}

/** Checks which way the server's events take, as far as the build shows it. */
export function serverEvents({ mentions }: AppFacts): Result {
  const check = "server events";
  if (mentions.serverTunnel) return ok(check, "the server's code reads SERVER_TUNNEL");
  if (!mentions.serverSdk)
    return unknown(check, "no sign of the SDK in the server's code", "tunnel: process.env.SERVER_TUNNEL");
  return unknown(
    check,
    "go straight to the ingest: lost without egress, and while the ingest is down",
    "tunnel: process.env.SERVER_TUNNEL",
  );
}
