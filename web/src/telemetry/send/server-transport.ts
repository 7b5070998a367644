import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { createTransport, suppressTracing } from "@sentry/nextjs";
import type { Settings } from "../settings/settings";
import { isAway } from "./recording-transport";
import { isStopping, stopping } from "./shutdown";

/** A place that takes this server's reports, and what it must be told beside them. */
export type Door = { url: URL; headers: Record<string, string> };

/** As in the SDK's own transport. */
const GZIP_BYTES = 32 * 1024;
/**
 * The proxy waits 10 s for an ingest that hangs, and then hands over to the spool. While stopping there is no such time,
 * also for what waits already: perhaps for a proxy that went away as it was called, which nobody answers then.
 */
const PATIENCE_MS = 15_000;
const PATIENCE_STOPPING_MS = 1_000;
/** A report that no door takes is tried again, after pauses that double. */
const PAUSE_MS = { first: 250, longest: 8_000 };
const HOLD_MS = 300_000;
/**
 * How many reports may be under way; the SDK drops what is more. Its own 64 are too few: an ingest that hangs is given up by
 * the proxy after 10 s, and until then everything that has no other door waits for it.
 */
const UNDER_WAY = 1_000;
/** A door at which so many wait is passed by, if it is not the last. */
const AT_A_DOOR = 30;

const agent = new Agent({ keepAlive: true, maxSockets: AT_A_DOOR });
const zip = promisify(gzip);

/**
 * Takes the settings and returns where reports go, in the order in which they are tried: the proxy, which gives them to the
 * ingest or keeps them; and while there is no proxy (it starts after this server, and stops before it) the spool itself.
 * None without SERVER_TUNNEL: then the SDK sends to the ingest.
 */
export function doors({ dsn, serverTunnel, spoolUpstream }: Settings): Door[] {
  if (!serverTunnel || !dsn) return [];
  const proxy = { url: serverTunnel, headers: {} };
  return spoolUpstream ? [proxy, { url: spoolUpstream, headers: { "x-spool-destination": dsn.envelopeUrl } }] : [proxy];
}

type Options = Parameters<typeof createTransport>[0];

/** Takes doors and returns the SDK's way to make a transport that tries them in turn. It never answers for a door that did not. */
export function throughDoors(places: Door[]) {
  const waiting = new Map<Door, Set<ClientRequest>>(places.map((place) => [place, new Set()]));
  stopping().addEventListener("abort", () => hurry([...waiting.values()].flatMap((those) => [...those])));
  const knock = async (packed: Packed) => {
    for (const [place, those] of waiting) {
      if (those.size >= AT_A_DOOR && place !== places.at(-1)) continue;
      const answer = await post(place, packed, those).catch(() => undefined);
      if (answer && !isAway(answer.statusCode)) return answer;
    }
  };
  return (options: Options) =>
    createTransport({ ...options, bufferSize: UNDER_WAY }, async ({ body }) => {
      const packed = await pack(body);
      const end = Date.now() + HOLD_MS;
      for (let pause = PAUSE_MS.first; Date.now() < end; pause = Math.min(2 * pause, PAUSE_MS.longest)) {
        const answer = await knock(packed);
        if (answer) return answer;
        await rest(pause);
      }
      throw new Error(`${places.map(({ url }) => url.host).join(" and ")} took no report for ${HOLD_MS / 1000} s`);
    });
}

/** Ends at once when this server is told to stop, and is short from then on. */
async function rest(pause: number): Promise<void> {
  const [ms, signal] = isStopping() ? [PAUSE_MS.first] : [pause, stopping()];
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}

function hurry(those: ClientRequest[]): void {
  setTimeout(() => {
    for (const posting of those) posting.destroy();
  }, PATIENCE_STOPPING_MS);
}

type Packed = { bytes: Uint8Array; headers: Record<string, string> };

async function pack(body: string | Uint8Array): Promise<Packed> {
  const bytes = Buffer.from(body);
  if (bytes.length <= GZIP_BYTES) return { bytes, headers: {} };
  return { bytes: await zip(bytes), headers: { "content-encoding": "gzip" } };
}

/** Posts with a Content-Length, without which the spool takes nothing. Node's own `http`: Next's `fetch` would trace and cache it. */
function post({ url, headers }: Door, { bytes, headers: coding }: Packed, waiting: Set<ClientRequest>) {
  const signal = AbortSignal.timeout(isStopping() ? PATIENCE_STOPPING_MS : PATIENCE_MS);
  const length = { "content-length": bytes.length };
  return suppressTracing(
    () =>
      new Promise<Answer>((resolve, reject) => {
        const posting = request(url, { method: "POST", agent, signal, headers: { ...headers, ...coding, ...length } })
          .on("response", (response) => resolve(answerOf(response)))
          .on("error", reject)
          .on("close", () => waiting.delete(posting));
        waiting.add(posting);
        posting.end(bytes);
      }),
  );
}

type Answer = { statusCode: number; headers: Record<(typeof READ)[number], string | null> };
const READ = ["retry-after", "x-sentry-rate-limits", "x-envelope-outcome"] as const;

function answerOf(response: IncomingMessage): Answer {
  // Read to its end, or the connection can't be used again.
  response.on("error", () => {}).resume();
  const headers = Object.fromEntries(READ.map((name) => [name, String(response.headers[name] ?? "") || null]));
  return { statusCode: response.statusCode ?? 0, headers: headers as Answer["headers"] };
}
