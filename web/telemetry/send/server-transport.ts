import { lookup } from "node:dns/promises";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createTransport, suppressTracing } from "#sdk";
import type { Endpoint } from "./endpoints.js";
import { isUnavailable } from "./recording-transport.js";
import { isStopping, stopping } from "./stopping.js";

/** As in the SDK's own transport. */
const MIN_GZIP_BYTES = 32 * 1024;
/**
 * The proxy waits 10 s for an ingest that hangs, and then hands over to the spool. A server that is stopping does not have that
 * time. The short timeout also ends requests already in flight, which may wait for a proxy that has just stopped.
 */
const TIMEOUT_MS = 15_000;
const STOPPING_TIMEOUT_MS = 1_000;
/** For a replica, if there is another one: as in the proxy (proxy/entrypoint.d/limits.sh). */
const REPLICA_TIMEOUT_MS = 2_000;
/** An envelope that no endpoint accepts is retried with exponential backoff. */
const BACKOFF_MS = { first: 250, max: 8_000 };
const RETRY_FOR_MS = 300_000;
/**
 * Maximum number of envelopes in flight; the SDK drops more. Its default of 64 is too low: the proxy gives up an ingest that
 * hangs only after 10 s, and until then every envelope without a fallback waits.
 */
const MAX_PENDING = 1_000;
/** An endpoint with this many pending requests is skipped, unless it is the last. */
const MAX_PENDING_PER_ENDPOINT = 30;

const agent = new Agent({ keepAlive: true, maxSockets: MAX_PENDING_PER_ENDPOINT });
const zip = promisify(gzip);

type Options = Parameters<typeof createTransport>[0];

/** Takes endpoints and returns a transport factory for the SDK whose transport tries them in order and retries until one responds. */
export function fallbackTransport(endpoints: Endpoint[]) {
  const pending = new Map<Endpoint, Set<ClientRequest>>(endpoints.map((endpoint) => [endpoint, new Set()]));
  stopping().addEventListener("abort", () => abortSoon([...pending.values()].flatMap((requests) => [...requests])));
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
  return (options: Options) =>
    createTransport({ ...options, bufferSize: MAX_PENDING }, async ({ body }) => {
      const packed = await pack(body);
      const end = Date.now() + RETRY_FOR_MS;
      for (let delay = BACKOFF_MS.first; Date.now() < end; delay = Math.min(2 * delay, BACKOFF_MS.max)) {
        const response = await tryEndpoints(packed);
        if (response) return response;
        await backOff(delay);
      }
      const hosts = endpoints.map(({ url }) => url.host).join(" and ");
      throw new Error(`${hosts} accepted no envelope for ${RETRY_FOR_MS / 1000} s`);
    });
}

/** Ends immediately when this server is told to stop; later delays are short. */
async function backOff(delay: number): Promise<void> {
  const [ms, signal] = isStopping() ? [BACKOFF_MS.first] : [delay, stopping()];
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}

function abortSoon(requests: ClientRequest[]): void {
  setTimeout(() => {
    for (const outgoing of requests) outgoing.destroy();
  }, STOPPING_TIMEOUT_MS);
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

type Packed = { bytes: Uint8Array; headers: Record<string, string> };

async function pack(body: string | Uint8Array): Promise<Packed> {
  const bytes = Buffer.from(body);
  if (bytes.length <= MIN_GZIP_BYTES) return { bytes, headers: {} };
  return { bytes: await zip(bytes), headers: { "content-encoding": "gzip" } };
}

/** Posts with a Content-Length, which the spool requires. Uses Node's `http`, because Next's `fetch` would trace and cache the request. */
function post(
  { url, headers }: Endpoint,
  { bytes, headers: encoding }: Packed,
  pending: Set<ClientRequest>,
  timeout: number,
) {
  const signal = AbortSignal.timeout(isStopping() ? STOPPING_TIMEOUT_MS : timeout);
  const length = { "content-length": bytes.length };
  return suppressTracing(
    () =>
      new Promise<EndpointResponse>((resolve, reject) => {
        const outgoing = request(url, {
          method: "POST",
          agent,
          signal,
          headers: { ...headers, ...encoding, ...length },
        })
          .on("response", (response) => resolve(read(response)))
          .on("error", reject)
          .on("close", () => pending.delete(outgoing));
        pending.add(outgoing);
        outgoing.end(bytes);
      }),
  );
}

const RESPONSE_HEADERS = ["retry-after", "x-sentry-rate-limits", "x-envelope-outcome"] as const;
type EndpointResponse = { statusCode: number; headers: Record<(typeof RESPONSE_HEADERS)[number], string | null> };

function read(response: IncomingMessage): EndpointResponse {
  // Without consuming the body, the connection cannot be reused.
  response.on("error", () => {}).resume();
  const headers = Object.fromEntries(
    RESPONSE_HEADERS.map((name) => [name, String(response.headers[name] ?? "") || null]),
  );
  return { statusCode: response.statusCode ?? 0, headers: headers as EndpointResponse["headers"] };
}
