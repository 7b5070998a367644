// Says which envelopes of a load test arrived, because k6 cannot listen. Node without dependencies; run.sh starts it beside k6, a cluster
// as a Deployment (README). What arrived is read from one of:
// - this program itself, a recording ingest: the target's SENTRY_DSN is http://any@HOST:PORT/1
// - SPOTLIGHT=http://localhost:8969: the local ingest
// - SENTRY_API=https://sentry.io/api/0/projects/ORG/PROJECT and SENTRY_AUTH_TOKEN: a project of Sentry
//
//   POST /sent             an envelope that k6's target accepted: { run, name, id, traceId, size, digest }
//   GET  /result?run&wait  { source, sent, missing, altered }, at the latest after `wait` seconds
//   POST /api/N/envelope/  the recording ingest
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";

const { PORT = "8970", HOST = "0.0.0.0", SPOTLIGHT = "", SENTRY_API = "", SENTRY_AUTH_TOKEN = "" } = process.env;
const source = SENTRY_API ? "Sentry's API" : SPOTLIGHT ? "the local ingest" : "the recording ingest";
/** Entries of either list: about 300 bytes each. The oldest are forgotten. */
const MAX_ENTRIES = 200_000;
const POLL_MS = 500;
/** Sentry answers about 40 requests a second, so only so many events are looked up, evenly spread over the run. */
const MAX_ASKED = 100;

/** What k6 sent and what arrived, by event id. */
const [sent, arrived] = [new Map(), new Map()];

function keep(map, id, value) {
  map.set(id, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value);
}

/** Records an envelope as received; the digest is of everything below the first line, as in suite/delivery.ts. */
function record(raw) {
  const end = raw.indexOf(10) + 1 || raw.length;
  const items = raw.subarray(end);
  const [, id] = /"event_id":\s*"(\w+)"/.exec(raw.subarray(0, end).toString()) ?? [];
  if (id) keep(arrived, id, { size: items.length, digest: createHash("sha256").update(items).digest("hex") });
  return id;
}

/** Follows Spotlight's stream of envelopes, and fetches each one of a load test as it was received. Reconnects until the end. */
async function follow() {
  let [last, said] = ["", ""];
  for (;;) {
    try {
      const stream = await fetch(`${SPOTLIGHT}/stream`, { headers: last ? { "last-event-id": last } : {} });
      let rest = "";
      for await (const text of stream.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const line of lines.filter((one) => one.startsWith("data:"))) {
          const [header] = JSON.parse(line.slice("data:".length));
          last = header.__spotlight_envelope_id;
          if (header.trace?.environment !== "loadtest") continue;
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

/**
 * Asks Sentry for an event. It stores no bytes, so only the event and its trace are compared.
 * https://docs.sentry.io/api/events/retrieve-an-event-for-a-project/ and https://docs.sentry.io/api/ratelimits/
 */
async function ask(id, one) {
  const headers = { authorization: `Bearer ${SENTRY_AUTH_TOKEN}` };
  const response = await fetch(`${SENTRY_API}/events/${id}/`, { headers });
  if (response.status === 429) {
    const reset = Number(response.headers.get("x-sentry-rate-limit-reset")) * 1000 - Date.now();
    await sleep(Math.max(POLL_MS, Math.min(reset || 0, 60_000)));
    return ask(id, one);
  }
  if (response.status === 401 || response.status === 403)
    throw new Error(`${SENTRY_API} rejects SENTRY_AUTH_TOKEN (${response.status}): it needs the scope event:read`);
  if (response.status === 404) return;
  if (!response.ok) throw new Error(`${SENTRY_API} responds ${response.status}`);
  const { contexts } = await response.json();
  const same = contexts?.trace?.trace_id === one.traceId;
  arrived.set(id, same ? one : { ...one, digest: `trace ${contexts?.trace?.trace_id}` });
}

/** Waits for what was sent. A replay is no event for Sentry's API. */
async function result(run, seconds) {
  let own = [...sent].filter(([, one]) => one.run === run && !(SENTRY_API && one.name === "replay"));
  if (SENTRY_API) own = own.filter((_, at) => at % Math.ceil(own.length / MAX_ASKED) === 0);
  const end = Date.now() + seconds * 1000;
  const missing = () => own.filter(([id]) => !arrived.has(id));
  for (;;) {
    if (SENTRY_API) for (const [id, one] of missing()) await ask(id, one);
    if (missing().length === 0 || Date.now() >= end) break;
    await sleep(POLL_MS);
  }
  const altered = own.flatMap(([id, { traceId, size, digest }]) => {
    const got = arrived.get(id) ?? { digest };
    const how = `sent ${size} bytes with digest ${digest}, ${got.size} bytes with ${got.digest} arrived`;
    return got.digest === digest ? [] : [{ id, traceId, how }];
  });
  return { source, sent: own.length, missing: missing().map(([id, { traceId }]) => ({ id, traceId })), altered };
}

async function answer(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const { pathname, searchParams } = new URL(request.url, "http://reader");
  if (pathname === "/healthz") return { source };
  if (pathname === "/result") return result(searchParams.get("run"), Number(searchParams.get("wait")));
  if (pathname === "/sent") {
    const { id, ...one } = JSON.parse(raw);
    keep(sent, id, one);
    return {};
  }
  if (!/\/api\/\d+\/envelope\/?$/.test(pathname)) throw new Error(`there is no ${pathname}`);
  return { id: record(request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw) };
}

const server = createServer(async (request, response) => {
  const [status, json] = await answer(request).then(
    (found) => [200, found],
    ({ message }) => [500, { detail: message }],
  );
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
// Without a local ingest at the start there is nothing to read from; one that restarts later is an outage.
if (SPOTLIGHT) await fetch(SPOTLIGHT).catch(() => process.exit(1));
server.listen(Number(PORT), HOST, () => console.log(server.address().port));
if (SPOTLIGHT) follow();
