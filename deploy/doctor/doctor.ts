// Says what is wrong with a stack on this machine, or with BASE_URL with any deployment: doctor.sh. Runs in a container of the stack's own image.
import { text } from "node:stream/consumers";
import { certificate } from "./checks/certificate.ts";
import { containers, crashed, images, lastWords, releases } from "./checks/containers.ts";
import { clock, ingest } from "./checks/ingest.ts";
import { hiddenPage, page } from "./checks/page.ts";
import { http2, publicAddress, redirect } from "./checks/public.ts";
import { allowed, applied, dsns, egress, settingNames, trusted } from "./checks/settings.ts";
import { clients, disk, envelopes, spool, upgrades } from "./checks/traffic.ts";
import { blockers, envelope, foreignProject, serverTunnel } from "./checks/tunnel.ts";
import { type Facts, parseFacts, settingsOf } from "./facts.ts";
import { request, type Target } from "./http.ts";
import { scrape } from "./metrics.ts";
import { attempt, ok, print, type Result } from "./result.ts";

/** Returns the target that stands for the stack's proxy in its own network, and all names that it serves. */
export function stackTarget(settings: Record<string, string>): { target: Target; names: string[] } {
  const names = allowed(settings.SERVER_NAME || "localhost");
  const port = Number(settings.HTTPS_PORT || 8443);
  const target = {
    ...{ host: "proxy", port: 8443, name: names[0] ?? "localhost", publicPort: port === 443 ? undefined : port },
    ...{
      proxyProtocol: settings.PROXY_PROTOCOL === "on",
      basePath: settings.BASE_PATH || "",
      tunnelPath: settings.TUNNEL_PATH || "/monitoring",
    },
  };
  return { target, names };
}

/** Runs every check of a stack on this machine, in the order in which they are read. Never rejects. */
export async function checkStack(facts: Facts, path: string, caFile: string): Promise<Result[]> {
  const broken = crashed(facts.containers);
  if (broken.length > 0) return broken;
  const settings = settingsOf(facts, "proxy");
  const { target, names } = stackTarget(settings);
  const list = [settings.SENTRY_DSN ?? "", ...allowed(settings.TUNNEL_ALLOWED_DSNS)];
  const acme =
    settings.ACME === "on"
      ? lastWords(facts.containers.find(({ service }) => service === "acme")?.lastLines ?? [])
      : undefined;
  const proxyMetrics = scrape("proxy");
  const isInner = Boolean(settings.TRUSTED_PROXIES);
  const results = await Promise.all([
    attempt("versions", () => [ok("versions", facts.versions)]),
    attempt("containers", () => [...containers(facts), ...releases(facts.containers)]),
    attempt("settings", () => [
      ...settingNames(facts.names),
      ...applied(facts),
      ...egress(facts),
      ...trusted(settings),
    ]),
    attempt("dsn", () => dsns(settings)),
    ...list.map((dsn) => attempt("ingest", () => ingest(dsn, caFile))),
    attempt("tunnel", () => envelope(target, settings.SENTRY_DSN)),
    attempt("server tunnel", () =>
      serverTunnel(settingsOf(facts, "web").SERVER_TUNNEL ?? "", settings.SENTRY_DSN ?? ""),
    ),
    attempt("foreign project", () => foreignProject(target)),
    attempt("tunnel path", () => hiddenPage(target, { host: "web", port: 3000 })),
    attempt("ad-blockers", () => blockers(`${target.basePath}${target.tunnelPath}`, list.join(" "))),
    attempt("envelopes", () => envelopes(facts.log)),
    attempt("websocket", () => upgrades(facts.log)),
    attempt("spool", async () => spool(await scrape("spool"))),
    ...names.map((name) =>
      attempt("public address", () => publicAddress({ ...target, name }, settings.HTTP3 === "off")),
    ),
    attempt("certificate", async () => certificate(target, { names, isInner, acme, metrics: await proxyMetrics })),
    attempt("redirect", () => redirect(target, "proxy", 8080)),
    attempt("http/2", () => http2(target)),
    attempt("page", () => page(target, path || `${target.basePath}/`, names)),
    attempt("client IP", () => clients(facts.log, settings, facts.gateways)),
    attempt("disk", () => disk()),
    attempt("images", () => images(facts.containers)),
  ]);
  return results.flat();
}

/** Takes an address such as https://app.example.com/shop, and returns the target. Throws if it is none. */
export function outsideTarget(address: string, tunnelPath: string): Target {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:")
    throw new Error(`culvert: BASE_URL: '${address}' is not an https address: use one such as https://app.example.com`);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const publicPort = Number(url.port) || undefined;
  return {
    host,
    port: publicPort ?? 443,
    name: host,
    publicPort,
    basePath: url.pathname.replace(/\/+$/, ""),
    tunnelPath,
  };
}

/** Runs the checks that need nothing but the deployment's address. Never rejects. */
export async function checkOutside(target: Target, dsn: string | undefined, path: string): Promise<Result[]> {
  const found = await publicAddress(target, false, true);
  if (found[0]?.state === "failed") return found;
  const results = await Promise.all([
    attempt("certificate", () => certificate(target, { names: [target.name] })),
    // A port of its own says nothing about the plain one.
    attempt("redirect", () => (target.publicPort ? [] : redirect(target, target.host, 80))),
    attempt("http/2", () => http2(target)),
    attempt("tunnel", () => envelope(target, dsn)),
    attempt("foreign project", () => foreignProject(target)),
    attempt("ad-blockers", () => blockers(target.tunnelPath, dsn ?? "")),
    attempt("page", () => page(target, path || `${target.basePath}/`, [target.name])),
    attempt("clock", async () => clock((await request(target, `${target.basePath}/`)).headers.date)),
  ]);
  return [...found, ...results.flat()];
}

if (import.meta.main) {
  const { BASE_URL = "", PAGE = "", SENTRY_DSN, TUNNEL_PATH, INGEST_CA_FILE } = process.env;
  try {
    if (BASE_URL)
      print(await checkOutside(outsideTarget(BASE_URL, TUNNEL_PATH || "/monitoring"), SENTRY_DSN || undefined, PAGE), [
        process.env,
      ]);
    else {
      const facts = parseFacts(await text(process.stdin));
      const environments = [...Object.values(facts.configured), ...facts.containers].map(
        ({ environment }) => environment,
      );
      print(await checkStack(facts, PAGE, INGEST_CA_FILE ?? ""), environments);
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
