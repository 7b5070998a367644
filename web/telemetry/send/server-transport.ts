import { lookup } from "node:dns/promises";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createTransport, suppressTracing } from "#sdk";
import type { Endpoint } from "./endpoints.js";
import { isUnavailable } from "./recording-transport.js";
import { isStopping, stopping } from "./stopping.js";

const MIN_GZIP_BYTES = 32 * 1024; // as in the SDK's own transport
/** The proxy waits 10 s for an ingest that hangs, and then hands over to the spool. */
const TIMEOUT_MS = 15_000;
/** Also ends requests already in flight, which may wait for a proxy that has just stopped. */
const STOPPING_TIMEOUT_MS = 1_000;
/** For a replica, if there is another one: as in the proxy (proxy/entrypoint.d/limits.sh). */
const REPLICA_TIMEOUT_MS = 2_000;
const BACKOFF_MS = { first: 250, max: 8_000 };
const RETRY_FOR_MS = 300_000;
/** Envelopes in flight; the SDK drops more. Its default of 64 is too low: without a fallback, each waits 10 s while the ingest hangs. */
const MAX_PENDING = 1_000;
/** An endpoint with this many pending requests is skipped, unless it is the last. */
const MAX_PENDING_PER_ENDPOINT = 30;

const agent = new Agent({ keepAlive: true, maxSockets: MAX_PENDING_PER_ENDPOINT });
const zip = promisify(gzip);

/** Takes endpoints and returns a transport factory for the SDK whose transport tries them in order, for five minutes at most. */
export function fallbackTransport(endpoints: Endpoint[]) {
  const pending = new Map<Endpoint, Set<ClientRequest>>(endpoints.map((endpoint) => [endpoint, new Set()]));
  stopping().addEventListener("abort", () => {
    const requests = [...pending.values()].flatMap((all) => [...all]);
    setTimeout(() => requests.forEach((outgoing) => void outgoing.destroy()), STOPPING_TIMEOUT_MS);
  });
  const tryEndpoints = async (packed: Packed) => {
    for (const [endpoint, requests] of pending) {
      if (requests.size >= MAX_PENDING_PER_ENDPOINT && endpoint !== endpoints.at(-1)) continue;
      const replicas = endpoint.hasReplicas ? await replicasOf(endpoint) : [endpoint];
      const timeout = replicas.length > 1 ? REPLICA_TIMEOUT_MS : TIMEOUT_MS;
      for (const replica of replicas) {
        const response = await post(replica, packed, requests, timeout).catch(() => undefined);
        if (response && !isUnavailable(response.statusCode)) return response;
      }
    }
  };
  return (options: Parameters<typeof createTransport>[0]) =>
    createTransport({ ...options, bufferSize: MAX_PENDING }, async ({ body }) => {
      const packed = await pack(Buffer.from(body));
      const end = Date.now() + RETRY_FOR_MS;
      for (let delay = BACKOFF_MS.first; Date.now() < end; delay = Math.min(2 * delay, BACKOFF_MS.max)) {
        const response = await tryEndpoints(packed);
        if (response) return response;
        // Ends immediately when this server is told to stop; later delays are short.
        const [ms, signal] = isStopping() ? [BACKOFF_MS.first] : [delay, stopping()];
        await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
      }
      const hosts = endpoints.map(({ url }) => url.host).join(" and ");
      throw new Error(`${hosts} accepted no envelope for ${RETRY_FOR_MS / 1000} s`);
    });
}

/** The replicas of an endpoint, each by its address. By its name, the agent would go on with the connections that it has. */
async function replicasOf(endpoint: Endpoint): Promise<Endpoint[]> {
  const addresses = await lookup(endpoint.url.hostname, { all: true }).catch(() => []);
  return addresses.map(({ address, family }) => {
    const url = new URL(endpoint.url);
    url.hostname = family === 6 ? `[${address}]` : address;
    return { ...endpoint, url };
  });
}

type Packed = { bytes: Uint8Array; headers: Record<string, string | number> };

/** With a Content-Length, which the spool requires. */
async function pack(body: Uint8Array): Promise<Packed> {
  if (body.length <= MIN_GZIP_BYTES) return { bytes: body, headers: { "content-length": body.length } };
  const bytes = await zip(body);
  return { bytes, headers: { "content-encoding": "gzip", "content-length": bytes.length } };
}

/** Uses Node's `http`, because Next's `fetch` would trace and cache the request. */
function post({ url, headers }: Endpoint, packed: Packed, pending: Set<ClientRequest>, timeout: number) {
  const signal = AbortSignal.timeout(isStopping() ? STOPPING_TIMEOUT_MS : timeout);
  const options = { method: "POST", agent, signal, headers: { ...headers, ...packed.headers } };
  return suppressTracing(
    () =>
      new Promise<EndpointResponse>((resolve, reject) => {
        const outgoing = request(url, options)
          .on("response", (response) => resolve(read(response)))
          .on("error", reject)
          .on("close", () => pending.delete(outgoing));
        pending.add(outgoing);
        outgoing.end(packed.bytes);
      }),
  );
}

const RESPONSE_HEADERS = ["retry-after", "x-sentry-rate-limits", "x-envelope-outcome"] as const;
type EndpointResponse = { statusCode: number; headers: Record<(typeof RESPONSE_HEADERS)[number], string | null> };

function read(response: IncomingMessage): EndpointResponse {
  // Without consuming the body, the connection cannot be reused.
  response.on("error", () => {}).resume();
  const headers = RESPONSE_HEADERS.map((name) => [name, String(response.headers[name] ?? "") || null]);
  return { statusCode: response.statusCode ?? 0, headers: Object.fromEntries(headers) };
}
