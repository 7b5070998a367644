import { makeBrowserOfflineTransport } from "@sentry/nextjs";
import { isAway } from "./recording-transport";

/** How many envelopes wait in a browser at most; what comes when there is no room is dropped. */
const MOST = 100;

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and only types are read here
type Envelope = any;
type Options = Parameters<ReturnType<typeof makeBrowserOfflineTransport>>[0];
type Transport = ReturnType<ReturnType<typeof makeBrowserOfflineTransport>>;

/** Not worth a visitor's disk: replays are large and many, and the SDK's reports about itself are soon outdated. */
const NOT_KEPT = /^(?:replay_|client_report$)/;

/** Takes an envelope and says where it is kept when nobody takes it; undefined when it is not. */
export function keptHere([, items]: Envelope): string | undefined {
  const passing = items.some(([{ type }]: [{ type: string }]) => NOT_KEPT.test(type));
  return passing ? undefined : "this browser has it, and sends it when it can";
}

/**
 * Takes the SDK's way to make a transport and returns one that keeps in IndexedDB what nobody took: no network, or a proxy that
 * answers 502, 503 or 504. It outlasts the tab, and leaves with the next success, page load or `online` event, with a fresh
 * `sent_at` (else an ingest shifts the event by the delay). Every other status is an answer of who read the report: 429 asks for
 * silence, and what made an ingest fail with 500 would do so again and hold up the rest.
 */
export function patient(make: (options: Options) => Transport) {
  return (options: Options): Transport => {
    const direct = make({ ...options, recordDroppedEvent: onlyLosses(options) });
    const keeping = makeBrowserOfflineTransport(() => ({ ...direct, send: (envelope) => insist(direct, envelope) }));
    const kept = keeping({ ...options, maxQueueSize: MOST, flushAtStartup: true });
    return {
      flush: (timeout) => kept.flush(timeout),
      // The SDK would store every replay first.
      send: (envelope) => (keptHere(envelope) ? kept : direct).send(envelope),
    };
  };
}

/** The SDK keeps what could not be sent only if sending fails, and a 503 is no failure to it. */
async function insist(transport: Transport, envelope: Envelope) {
  const response = await transport.send(envelope);
  if (isAway(response.statusCode)) throw new Error(`nobody took it: ${response.statusCode}`);
  return response;
}

/** What could not be sent for want of a network is kept, so it is not to be counted as lost; but replays are not kept. */
function onlyLosses({ recordDroppedEvent }: Options): Options["recordDroppedEvent"] {
  return (reason, category, ...rest) =>
    (reason === "network_error" && category !== "replay") || recordDroppedEvent(reason, category, ...rest);
}
