import { certificate } from "./checks/certificate.ts";
import { containers } from "./checks/containers.ts";
import { ingest } from "./checks/ingest.ts";
import { baseImages, disk } from "./checks/machine.ts";
import { page } from "./checks/page.ts";
import { http2, http3, publicAddress, redirect, unknownPage } from "./checks/public.ts";
import { settingNames } from "./checks/setting-names.ts";
import { allowed, applied, dsns } from "./checks/setting-values.ts";
import { spool } from "./checks/spool.ts";
import { clientAddresses, outcomes, upgrades } from "./checks/traffic.ts";
import { blockers, envelope, foreignProject, serverTunnel } from "./checks/tunnel.ts";
import type { Facts } from "./facts.ts";
import { scrape } from "./metrics.ts";
import type { Target } from "./probe/target.ts";
import { attempt, ok, type Result } from "./result.ts";

/** Returns the settings that the proxy runs with: the container's own, else those of the compose file. */
export function effective({ containers, configured }: Facts, service: string): Record<string, string> {
  const running = containers.find((container) => container.service === service && container.status === "running");
  const configuration = Object.entries(configured[service]?.environment ?? {}).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  );
  return running?.environment ?? Object.fromEntries(configuration);
}

/** Returns the main one of the site's names. */
export function mainName({ SERVER_NAME = "" }: Record<string, string>): string {
  return SERVER_NAME.split(/[ ,]+/).find(Boolean) ?? "localhost";
}

/** Returns the target that stands for the stack's proxy in its own network. */
export function stackTarget(settings: Record<string, string>): Target {
  const port = Number(settings.HTTPS_PORT || 8443);
  return {
    host: "proxy",
    port: 8443,
    name: mainName(settings),
    ...(port !== 443 && { publicPort: port }),
    proxyProtocol: settings.PROXY_PROTOCOL === "on",
    basePath: settings.BASE_PATH || "",
    tunnelPath: settings.TUNNEL_PATH || "/monitoring",
  };
}

/** Runs every check of a stack on this machine, and returns the results in the order in which they are read. Never rejects. */
export async function checkStack(facts: Facts, path: string, caFile: string): Promise<Result[]> {
  const settings = effective(facts, "proxy");
  const spoolSettings = effective(facts, "spool");
  const target = stackTarget(settings);
  const list = [settings.SENTRY_DSN ?? "", ...allowed(settings.TUNNEL_ALLOWED_DSNS)];
  const results = await Promise.all([
    attempt("versions", () => [ok("versions", facts.versions)]),
    attempt("containers", () => containers(facts.configured, facts.containers)),
    attempt("settings", () => settingNames(facts.names)),
    attempt("applied", () => applied(facts.configured, facts.containers)),
    attempt("dsn", () => dsns(settings)),
    ...list.map((dsn) => attempt("ingest", () => ingest(dsn, caFile))),
    attempt("tunnel", () => envelope(target, settings.SENTRY_DSN)),
    attempt("server tunnel", () =>
      serverTunnel(effective(facts, "web").SERVER_TUNNEL ?? "", settings.SENTRY_DSN ?? ""),
    ),
    attempt("foreign project", () => foreignProject(target)),
    attempt("ad-blockers", () => blockers(`${target.basePath}${target.tunnelPath}`, list.join(" "))),
    attempt("envelopes", () => outcomes(facts.outcomes, facts.lastAccepted)),
    attempt("websocket", () => upgrades(facts.upgrades)),
    attempt("spool", async () => spool(await scrape("spool"), Number(spoolSettings.SPOOL_MAX_MB || 512))),
    attempt("public address", () => publicAddress(target)),
    attempt("certificate", () => certificate(target, Boolean(settings.TRUSTED_PROXIES))),
    attempt("redirect", () => redirect(target, "proxy", 8080)),
    attempt("http/2", () => http2(target)),
    attempt("http/3", () => http3(target, settings.HTTP3 === "off")),
    attempt("unknown page", () => unknownPage(target)),
    attempt("page", () => page(target, path || `${target.basePath}/`)),
    attempt("client IP", () => clientAddresses(facts, settings)),
    attempt("disk", () => disk()),
    attempt("base images", () => baseImages(facts.images)),
  ]);
  return results.flat();
}
