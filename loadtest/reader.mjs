// Says which envelopes of a load test arrived, because k6 cannot listen, and keeps failures for its summary. It follows the local ingest,
// SPOTLIGHT=http://localhost:8969, or is an ingest itself: the target's SENTRY_DSN is http://any@HOST:PORT/1
//
//   POST /sent, GET /result?run&wait       lib/delivery.ts
//   POST /failure, GET /failures?run       lib/failures.ts
//   POST /api/N/envelope/                  the ingest
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync } from "node:zlib";

const { PORT = "8970", HOST = "0.0.0.0", SPOTLIGHT = "" } = process.env;
const source = SPOTLIGHT ? "the local ingest" : "the recording ingest";
/** Entries of each list, of about 1 kB. The oldest go. */
const MAX_ENTRIES = 100_000;
const POLL_MS = 500;
const DAY_MS = 86_400_000;

/** What k6 sent, and each arrival, by event id or digest; how often the app ran a POST, by trace. */
const [sent, arrived, executions, seen] = [new Map(), new Map(), new Map(), new Map()];
const failures = new Map();
function keep(map, id, value) {
  map.set(id, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value);
}

/** Records an envelope as received. The digest is that of lib/delivery.ts. */
function record(raw, project) {
  const end = raw.indexOf(10) + 1 || raw.length;
  const items = raw.subarray(end);
  const header = JSON.parse(raw.subarray(0, end));
  const digest = createHash("sha256").update(items).digest("hex");
  const { event_id: id = digest, trace } = header;
  keep(arrived, id, [...(arrived.get(id) ?? []), { project, header, size: items.length, digest, at: Date.now() }]);
  const ran = /"type":"transaction"/.test(items) && /"transaction":"POST /.test(items);
  if (ran) keep(executions, trace?.trace_id, (executions.get(trace?.trace_id) ?? 0) + 1);
  return id;
}

/** Follows Spotlight's stream, and fetches each envelope of a load test as it was received. Reconnects until the end. */
async function follow() {
  let [last, said] = ["", ""];
  for (;;) {
    try {
      const stream = await fetch(`${SPOTLIGHT}/stream`, { headers: last ? { "last-event-id": last } : {} });
      let rest = "";
      for await (const text of stream.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const line of lines.filter((line) => line.startsWith("data:"))) {
          const [header] = JSON.parse(line.slice("data:".length));
          last = header.__spotlight_envelope_id;
          // A stream that begins anew may repeat what it has sent.
          if (header.trace?.environment !== "loadtest" || seen.has(last)) continue;
          keep(seen, last, true);
          const response = await fetch(`${SPOTLIGHT}/envelope/${last}`);
          if (response.ok) record(Buffer.from(await response.arrayBuffer()));
        }
      }
    } catch (error) {
      const problem = error.cause?.message ?? error.message;
      if (problem !== said) console.error(`culvert loadtest: ${SPOTLIGHT}: ${problem}`);
      said = problem;
    }
    await sleep(POLL_MS);
  }
}

/** How an envelope differs from the one that was sent. The spool renews `sent_at`, by less than a day. */
function difference(sent, got) {
  const [was, is] = [sent.header ?? {}, got.header ?? {}];
  const keys = Object.keys({ ...was, ...is }).filter(
    (key) => key !== "sent_at" && !isDeepStrictEqual(was[key], is[key]),
  );
  const found = keys.map((key) => `header ${key}: sent ${JSON.stringify(was[key])}, got ${JSON.stringify(is[key])}`);
  if (got.project && sent.project && got.project !== sent.project)
    found.unshift(`sent to project ${sent.project}, arrived in ${got.project}`);
  if (is.sent_at !== was.sent_at && !(Math.abs(Date.parse(is.sent_at) - sent.at) < DAY_MS))
    found.push(`header sent_at: sent ${was.sent_at}, got ${is.sent_at}`);
  if (got.digest !== sent.digest)
    found.push(`sent ${sent.size} bytes with digest ${sent.digest}, ${got.size} bytes with ${got.digest} arrived`);
  return found.join("; ");
}

async function result(run, seconds) {
  const mine = [...sent.values()].filter((entry) => entry.run === run);
  const envelopes = mine.filter(({ id }) => id);
  const end = Date.now() + seconds * 1000;
  const missing = () => envelopes.filter(({ id }) => !arrived.has(id));
  while (missing().length > 0 && Date.now() < end) await sleep(POLL_MS);
  const finding = ({ id, traceId }, how) => ({ id: id ?? "", traceId, how });
  const got = envelopes.filter(({ id }) => arrived.has(id)).map((envelope) => [envelope, arrived.get(envelope.id)]);
  const actions = mine.filter(({ id, traceId }) => !id && executions.has(traceId));
  return {
    source,
    sent: envelopes.length,
    missing: missing().map((envelope) => finding(envelope, "answered 200, did not arrive")),
    altered: got.flatMap(([envelope, all]) => {
      const [how] = all.map((arrival) => difference(envelope, arrival)).filter(Boolean);
      return how ? [finding(envelope, how)] : [];
    }),
    repeated: got
      .filter(([, all]) => all.length > 1)
      .map(([envelope, all]) => finding(envelope, `arrived ${all.length} times`)),
    late: got
      .filter((_, at) => at % Math.ceil(got.length / 1000) === 0)
      .map(([envelope, [first]]) => Math.max(0, first.at - envelope.at)),
    actions: actions.length,
    ranTwice: actions
      .filter(({ traceId }) => executions.get(traceId) > 1)
      .map((action) => finding(action, `the app ran it ${executions.get(action.traceId)} times`)),
  };
}

async function answer(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const { pathname, searchParams } = new URL(request.url, "http://reader");
  if (pathname === "/healthz") return { source };
  if (pathname === "/result") return result(searchParams.get("run"), Number(searchParams.get("wait")));
  if (pathname === "/sent") {
    const entry = JSON.parse(raw);
    keep(sent, entry.id ?? entry.traceId, { ...entry, at: Date.now() });
    return {};
  }
  if (pathname === "/failure") {
    keep(failures, `${raw}`, JSON.parse(raw));
    return {};
  }
  if (pathname === "/failures") return [...failures.values()].filter(({ run }) => run === searchParams.get("run"));
  const [, project] = /\/api\/(\d+)\/envelope\/?$/.exec(pathname) ?? [];
  if (!project) throw new Error(`there is no ${pathname}`);
  return { id: record(request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw, project) };
}

const server = createServer(async (request, response) => {
  const [status, json] = await answer(request).then(
    (found) => [200, found],
    ({ message }) => [500, { detail: message }],
  );
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
});
// Node would close a connection just when k6 sends on it.
server.keepAliveTimeout = 0;
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
const reads = SPOTLIGHT !== "" && (await fetch(SPOTLIGHT).catch(() => false));
server.listen(Number(PORT), HOST, () => console.log(server.address().port, reads ? SPOTLIGHT : ""));
if (reads) follow();
