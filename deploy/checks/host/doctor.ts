// Says what is wrong with a stack on this machine: doctor.sh.
import { text } from "node:stream/consumers";
import { certificate, isLocal, renewal } from "../certificate.ts";
import { defaults } from "../defaults.ts";
import type { Target } from "../http.ts";
import { scrape } from "../metrics.ts";
import { tunnel } from "../outside/doctor.ts";
import { page, publicAddress } from "../outside/site.ts";
import { attempt, container, explain, failed, finish, type Result, report, skipped, unanswered } from "../result.ts";
import { clients } from "./clients.ts";
import { disk, down, health } from "./containers.ts";
import { envelopes, ingest, serverTunnel, spool } from "./delivery.ts";
import { type Facts, list, parseFacts, settingsOf } from "./facts.ts";
import { applied, settingNames, spaces } from "./settings.ts";

const { PAGE = "", INGEST_CA_FILE = "" } = process.env;

/** Runs every check of a stack on this machine, in the order in which they are read. */
export async function checkStack(facts: Facts): Promise<Result[]> {
  const spoiled = spaces(facts);
  // If a container does not run, nothing else is asked.
  const broken = down(facts);
  if (broken.length > 0) return explain([...spoiled, ...broken]);
  const settings = settingsOf(facts, "proxy");
  const inner = `http://proxy.${settings.INTERNAL_NETWORK}:8083/envelopes`;
  const dsn = settings.SENTRY_DSN ?? "";
  const names = list(settings.SERVER_NAME || defaults.SERVER_NAME);
  const target: Target = {
    host: "proxy",
    port: 8443,
    name: names[0] ?? "",
    publicPort: Number(settings.HTTPS_PORT || defaults.HTTPS_PORT),
    proxyProtocol: settings.PROXY_PROTOCOL === "on",
    basePath: settings.BASE_PATH ?? "",
    tunnelPath: settings.TUNNEL_PATH || defaults.TUNNEL_PATH,
  };
  const { why } = facts.containers.find(({ service }) => service === "acme") ?? {};
  const acme = settings.ACME === "on" ? `docker compose logs acme. Its last line: ${why}` : undefined;
  const dsns = [dsn, ...list(settings.TUNNEL_ALLOWED_DSNS)];
  const ingests = (await Promise.all(dsns.map((dsn) => attempt("ingest", () => ingest(dsn, INGEST_CA_FILE))))).flat();
  // `docker compose up` alone leaves it running.
  const left = facts.containers.filter(({ service }) => service === "web" && !facts.configured.web);
  const states = [
    ...health(facts.containers.filter((container) => !left.includes(container))),
    ...left.map(({ Name }) =>
      failed("web", `${Name} runs, but WEB is off`, "make up stops it", { id: container("web") }),
    ),
  ];
  const ofProxy = unanswered(0, "proxy");
  // So that the spool queues no probe.
  const probed = (check: string, run: () => Promise<Result[]>) =>
    ingests[0]?.state === "ok"
      ? attempt(check, run, ofProxy)
      : [skipped(check, "not tried: see the line on the ingest", { follows: ["ingest"] })];
  const results = await Promise.all([
    states,
    disk(),
    spoiled,
    settingNames(facts.names),
    applied(facts),
    ingests,
    probed("server tunnel", () => serverTunnel(settingsOf(facts, "web").SERVER_TUNNEL ?? inner, dsn)),
    probed("tunnel", () => tunnel(target, dsn)),
    envelopes(facts.log),
    attempt("spool", async () => spool(await scrape("spool"))),
    ...names
      .filter((name) => !isLocal(name))
      .map((name) => attempt("public address", () => publicAddress({ ...target, name }), ofProxy)),
    attempt("certificate", () => certificate(target, names, { acme, front: settings.TRUSTED_PROXIES }), ofProxy),
    attempt("certificate", async () => renewal(await scrape("proxy"), acme, facts.unreadable), ofProxy),
    attempt("page", () => page(target, PAGE || `${target.basePath}/`), unanswered(0, "proxy", "web")),
    clients(facts, settings),
  ]);
  return explain(results.flat());
}

if (import.meta.main) {
  const results = await checkStack(parseFacts(await text(process.stdin)));
  // For the end of `make up`.
  const isBrief = process.argv.includes("--brief");
  const isWorthy = ({ id, state }: Result) => state === "failed" && ["ingest", "certificate"].includes(id);
  report(isBrief ? results.filter(isWorthy) : results);
  if (!isBrief) finish();
}
