// Says what is wrong with a stack on this machine, or with BASE_URL with any deployment: doctor.sh.
import { text } from "node:stream/consumers";
import { certificate, isLocal, renewal } from "./checks/certificate.ts";
import { disk, down, health, lastWords, releases } from "./checks/containers.ts";
import { envelopes, ingest, serverTunnel, spool, tunnel } from "./checks/delivery.ts";
import { applied, egress, settingNames } from "./checks/settings.ts";
import { clients, hiddenPage, page, publicAddress, redirect } from "./checks/site.ts";
import { type Facts, list, parseFacts, settingsOf } from "./facts.ts";
import type { Target } from "./http.ts";
import { scrape } from "./metrics.ts";
import { attempt, failed, print, type Result } from "./result.ts";

const { BASE_URL = "", PAGE = "", SENTRY_DSN = "", TUNNEL_PATH = "", INGEST_CA_FILE = "" } = process.env;

/** Runs every check of a stack on this machine, in the order in which they are read. Never rejects. */
export async function checkStack(facts: Facts): Promise<Result[]> {
  // Then nothing else is said.
  const broken = down(facts);
  if (broken.length > 0) return broken;
  const settings = settingsOf(facts, "proxy");
  const dsn = settings.SENTRY_DSN ?? "";
  const names = list(settings.SERVER_NAME || "localhost");
  const target: Target = {
    ...{ host: "proxy", port: 8443, name: names[0] ?? "", publicPort: Number(settings.HTTPS_PORT || 8443) },
    proxyProtocol: settings.PROXY_PROTOCOL === "on",
    ...{ basePath: settings.BASE_PATH ?? "", tunnelPath: settings.TUNNEL_PATH || "/monitoring" },
  };
  const { lastLines = [] } = facts.containers.find(({ service }) => service === "acme") ?? {};
  const acme = settings.ACME === "on" ? `docker compose logs acme. Its last line: ${lastWords(lastLines)}` : undefined;
  const isInner = Boolean(settings.TRUSTED_PROXIES);
  const results = await Promise.all([
    ...[health(facts.containers), releases(facts.containers), disk()],
    ...[settingNames(facts.names), applied(facts), egress(facts)],
    ...[dsn, ...list(settings.TUNNEL_ALLOWED_DSNS)].map((one) => attempt("ingest", () => ingest(one, INGEST_CA_FILE))),
    attempt("server tunnel", () => serverTunnel(settingsOf(facts, "web").SERVER_TUNNEL ?? "", dsn)),
    attempt("tunnel", () => tunnel(target, dsn)),
    attempt("tunnel path", () => hiddenPage(target)),
    envelopes(facts.log),
    attempt("spool", async () => spool(await scrape("spool"))),
    ...names.filter((name) => !isLocal(name)).map((name) => publicAddress({ ...target, name })),
    attempt("certificate", () => certificate(target, names, acme, isInner)),
    attempt("certificate", async () => renewal(await scrape("proxy"), acme)),
    page(target, PAGE || `${target.basePath}/`, names),
    clients(facts, settings),
  ]);
  return results.flat();
}

/** Runs the checks that need nothing but the deployment's address. Never rejects. */
export async function checkOutside(target: Target): Promise<Result[]> {
  const found = await publicAddress(target);
  if (found[0]?.state === "failed") return found;
  const results = await Promise.all([
    attempt("certificate", () => certificate(target, [target.name])),
    // A port of its own says nothing about the plain one.
    target.publicPort === 443 ? redirect(target) : [],
    attempt("tunnel", () => tunnel(target, SENTRY_DSN)),
    page(target, PAGE || `${target.basePath}/`, [target.name]),
  ]);
  return [...found, ...results.flat()];
}

/** The same for an address such as https://app.example.com/shop. */
async function checkAddress(address: string): Promise<Result[]> {
  const url = URL.parse(address);
  if (url?.protocol !== "https:")
    return [failed("BASE_URL", `'${address}' is not an https address`, "use one such as https://app.example.com")];
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || 443;
  const paths = { basePath: url.pathname.replace(/\/+$/, ""), tunnelPath: TUNNEL_PATH || "/monitoring" };
  return checkOutside({ host: name, port, name, publicPort: port, ...paths });
}

if (import.meta.main)
  print(await (BASE_URL ? checkAddress(BASE_URL) : checkStack(parseFacts(await text(process.stdin)))));
