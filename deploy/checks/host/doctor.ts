// Says what is wrong with a stack on this machine: doctor.sh.
import { text } from "node:stream/consumers";
import { certificate, isLocal, renewal } from "../certificate.ts";
import type { Target } from "../http.ts";
import { scrape } from "../metrics.ts";
import { tunnel } from "../outside/doctor.ts";
import { page, publicAddress } from "../outside/site.ts";
import { after, attempt, finish, type Result, report, skipped } from "../result.ts";
import { clients } from "./clients.ts";
import { disk, down, health } from "./containers.ts";
import { envelopes, ingest, serverTunnel, spool } from "./delivery.ts";
import { type Facts, list, parseFacts, settingsOf } from "./facts.ts";
import { applied, settingNames, spaces } from "./settings.ts";

const { PAGE = "", INGEST_CA_FILE = "" } = process.env;

const namesSetting = ({ found }: Result, { found: setting }: Result) => found.includes(setting.split(" ", 1)[0] ?? "");
/** What ends when the ingest accepts envelopes again: the queue of those for it, and failures whose only reason it is. */
export const isOfIngest = ({ found, fix = "" }: Result) =>
  found.includes("envelopes wait, the oldest") || /^reasons: (?:(?:ingest_status_\d+|unreachable)(?:, |;))+/.test(fix);

/** Runs every check of a stack on this machine, in the order in which they are read. Never rejects. */
export async function checkStack(facts: Facts): Promise<Result[]> {
  // If a container does not run, nothing else is asked. One that has ended for a space names the setting.
  const spoiled = spaces(facts);
  const broken = await after(spoiled, () => down(facts), namesSetting);
  if (broken.length > 0) return [...spoiled, ...broken];
  const settings = settingsOf(facts, "proxy");
  const dsn = settings.SENTRY_DSN ?? "";
  const names = list(settings.SERVER_NAME || "localhost");
  const target: Target = {
    host: "proxy",
    port: 8443,
    name: names[0] ?? "",
    publicPort: Number(settings.HTTPS_PORT || 8443),
    proxyProtocol: settings.PROXY_PROTOCOL === "on",
    basePath: settings.BASE_PATH ?? "",
    tunnelPath: settings.TUNNEL_PATH || "/monitoring",
  };
  const { why } = facts.containers.find(({ service }) => service === "acme") ?? {};
  const acme = settings.ACME === "on" ? `docker compose logs acme. Its last line: ${why}` : undefined;
  const dsns = [dsn, ...list(settings.TUNNEL_ALLOWED_DSNS)];
  const ingests = (await Promise.all(dsns.map((one) => attempt("ingest", () => ingest(one, INGEST_CA_FILE))))).flat();
  const states = health(facts.containers);
  const asked = (check: string, run: () => Promise<Result[]>, ...services: string[]) => {
    const causes = states.filter((one) => ["proxy", ...services].includes(one.check));
    return after(causes, () => attempt(check, run));
  };
  // So that the spool queues no probe.
  const probed = (check: string, run: () => Promise<Result[]>) =>
    ingests[0]?.state === "ok" ? asked(check, run) : [skipped(check, "not tried: see the line on the ingest")];
  const results = await Promise.all([
    states,
    disk(),
    spoiled,
    settingNames(facts.names),
    applied(facts),
    ingests,
    probed("server tunnel", () => serverTunnel(settingsOf(facts, "web").SERVER_TUNNEL ?? "", dsn)),
    probed("tunnel", () => tunnel(target, dsn)),
    after(ingests, () => envelopes(facts.log), isOfIngest),
    attempt("spool", async () => after(ingests, async () => spool(await scrape("spool")), isOfIngest)),
    ...names
      .filter((name) => !isLocal(name))
      .map((name) => asked("public address", () => publicAddress({ ...target, name }))),
    asked("certificate", () => certificate(target, names, { acme, front: settings.TRUSTED_PROXIES })),
    asked("certificate", async () => renewal(await scrape("proxy"), acme, facts.unreadable)),
    asked("page", () => page(target, PAGE || `${target.basePath}/`), "web"),
    clients(facts, settings),
  ]);
  return results.flat();
}

if (import.meta.main) {
  const results = await checkStack(parseFacts(await text(process.stdin)));
  // For the end of `make up`.
  const isBrief = process.argv.includes("--brief");
  const isWorthy = ({ check, state }: Result) => state === "failed" && ["ingest", "certificate"].includes(check);
  report(isBrief ? results.filter(isWorthy) : results);
  if (!isBrief) finish();
}
