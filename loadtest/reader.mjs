// Says which envelopes of a load test arrived, because k6 cannot listen. Node without dependencies; run.sh starts it beside k6, a cluster
// as a Deployment (README). What arrived is read from one of:
// - this program itself, a recording ingest: the target's SENTRY_DSN is http://any@HOST:PORT/1
// - SPOTLIGHT=http://localhost:8969: the local ingest
// - SENTRY_API=https://sentry.io/api/0/projects/ORG/PROJECT and SENTRY_AUTH_TOKEN: a project of Sentry
//
//   POST /sent             an envelope that k6's target accepted: { run, id, traceId, size, digest }
//   GET  /result?run&wait  { source, sent, missing, altered }, at the latest after `wait` seconds
//   POST /api/N/envelope/  the recording ingest
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync } from "node:zlib";

const { PORT = "8970", HOST = "0.0.0.0", SPOTLIGHT = "", SENTRY_API = "", SENTRY_AUTH_TOKEN = "" } = process.env;
const source = SENTRY_API ? "Sentry's API" : SPOTLIGHT ? "the local ingest" : "the recording ingest";
/** Entries of either list: about 300 bytes each. The oldest are forgotten. */
const MAX_ENTRIES = 200_000;
const POLL_MS = 500;

/** What k6 sent and what arrived, by event id. @type {Map<string, {run: string, traceId: string, size: number, digest: string}>} */
const sent = new Map();
/** @type {Map<string, {size: number, digest: string, project?: string}>} */
const arrived = new Map();

function keep(map, id, value) {
  map.set(id, value);
  if (map.size > MAX_ENTRIES) map.delete(map.keys().next().value);
}

/** Records an envelope as received; the digest is of everything below the first line, as in suite/delivery.ts. */
function record(raw, project) {
  const end = raw.indexOf(10) + 1;
  const items = raw.subarray(end || raw.length);
  const id = headerOf(raw.subarray(0, end || raw.length)).event_id;
  if (id) keep(arrived, id, { size: items.length, digest: createHash("sha256").update(items).digest("hex"), project });
  return id;
}

function headerOf(line) {
  try {
    return JSON.parse(line.toString());
  } catch {
    return {};
  }
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = Buffer.concat(chunks);
  const decode = { gzip: gunzipSync, deflate: inflateSync, br: brotliDecompressSync }[
    request.headers["content-encoding"]
  ];
  return decode ? decode(raw) : raw;
}

/** Follows Spotlight's stream of envelopes, and fetches each one that k6 may have sent as it was received. Reconnects until the end. */
async function follow() {
  let last = "";
  for (;;) {
    try {
      const headers = last ? { "last-event-id": last } : {};
      const stream = await fetch(`${SPOTLIGHT}/stream`, { headers });
      let rest = "";
      for await (const text of stream.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const line of lines) {
          if (!line.startsWith("data:")) continue;
          const [header] = JSON.parse(line.slice("data:".length));
          last = header.__spotlight_envelope_id;
          if (isOurs(header)) await fetchEnvelope(last);
        }
      }
    } catch (error) {
      console.error(`culvert loadtest: ${SPOTLIGHT}: ${error.cause?.message ?? error.message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const isOurs = ({ trace }) => trace?.environment === "loadtest";

async function fetchEnvelope(id) {
  const response = await fetch(`${SPOTLIGHT}/envelope/${id}`);
  if (response.ok) record(Buffer.from(await response.arrayBuffer()));
}

/** Asks Sentry for an event. It stores no bytes, so only the event and its trace are compared. Replays are not events. */
async function ask(id, { traceId }) {
  const response = await fetch(`${SENTRY_API}/events/${id}/`, {
    headers: { authorization: `Bearer ${SENTRY_AUTH_TOKEN}` },
  });
  if (response.status === 401 || response.status === 403)
    throw new Error(`SENTRY_AUTH_TOKEN is rejected by ${SENTRY_API} (${response.status})`);
  if (!response.ok) return;
  const { contexts } = await response.json();
  const same = contexts?.trace?.trace_id === traceId;
  keep(arrived, id, { ...sent.get(id), ...(same ? {} : { digest: `trace ${contexts?.trace?.trace_id}` }) });
}

async function result(run, seconds) {
  const own = [...sent].filter(([, one]) => one.run === run);
  const end = Date.now() + seconds * 1000;
  const missing = () => own.filter(([id]) => !arrived.has(id));
  while (missing().length > 0 && Date.now() < end) {
    if (SENTRY_API) for (const [id, one] of missing()) await ask(id, one);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const altered = own.flatMap(([id, { traceId, size, digest }]) => {
    const got = arrived.get(id);
    if (!got || got.digest === digest) return [];
    return [
      { id, traceId, how: `sent ${size} bytes with digest ${digest}, ${got.size} bytes with ${got.digest} arrived` },
    ];
  });
  return { source, sent: own.length, missing: missing().map(([id, { traceId }]) => ({ id, traceId })), altered };
}

const server = createServer(async (request, response) => {
  const reply = (status, json) =>
    response.writeHead(status, { "content-type": "application/json" }).end(json && JSON.stringify(json));
  const { pathname, searchParams } = new URL(request.url, "http://reader");
  const [, project] = /^.*\/api\/(\d+)\/envelope\/?$/.exec(pathname) ?? [];
  try {
    if (pathname === "/healthz") return reply(200, { source });
    if (request.method === "POST" && pathname === "/sent") {
      const { id, ...one } = JSON.parse(await bodyOf(request));
      keep(sent, id, one);
      return reply(204);
    }
    if (pathname === "/result")
      return reply(200, await result(searchParams.get("run"), Number(searchParams.get("wait"))));
    if (request.method === "POST" && project) return reply(200, { id: record(await bodyOf(request), project) });
    return reply(404, { detail: "not found" });
  } catch (error) {
    return reply(500, { detail: error.message });
  }
});
server.listen(Number(PORT), HOST, () => console.log(server.address().port));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => process.exit(0));
if (SPOTLIGHT) follow();
