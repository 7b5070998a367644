import { makeBrowserOfflineTransport } from "#sdk";
import { isUnavailable } from "./recording-transport.js";

/** Capacity of a browser's queue; when it is full, new envelopes are dropped. */
const MAX_ENVELOPES = 100;

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and only types are read here
type Envelope = any;
type Options = Parameters<ReturnType<typeof makeBrowserOfflineTransport>>[0];
type Transport = ReturnType<ReturnType<typeof makeBrowserOfflineTransport>>;

/** Not queued, to save the user's disk space: replays are large and many, and client reports are soon outdated. */
const NEVER_QUEUED = /^(?:replay_|client_report$)/;

/** Takes an envelope and returns a note that says where it is queued when it is not accepted; undefined if it is never queued. */
export function queueNote([, items]: Envelope): string | undefined {
  const skipped = items.some(([{ type }]: [{ type: string }]) => NEVER_QUEUED.test(type));
  return skipped ? undefined : "queued in this browser, which sends it later";
}

/**
 * Takes a transport factory and returns one that queues envelopes in IndexedDB when there is no network, or the proxy responds with 502, 503 or 504.
 * The queue survives the tab. It is sent after the next success, page load or `online` event, and else after pauses from 5 s to an hour, with a fresh
 * `sent_at` (otherwise an ingest shifts the event by the delay). Other statuses are about the envelope: one that caused a 500 would do so again and
 * block the queue.
 */
export function withOfflineQueue(make: (options: Options) => Transport) {
  return (options: Options): Transport => {
    // What is queued without a network must not be counted as lost; replays are not queued.
    const recordDroppedEvent: Options["recordDroppedEvent"] = (reason, category, ...rest) =>
      (reason === "network_error" && category !== "replay") || options.recordDroppedEvent(reason, category, ...rest);
    const direct = make({ ...options, recordDroppedEvent });
    // The SDK queues an envelope only when sending throws, and to the SDK a 503 is a normal response.
    const send = async (envelope: Envelope) => {
      const response = await direct.send(envelope);
      if (isUnavailable(response.statusCode)) throw new Error(`not accepted: ${response.statusCode}`);
      return response;
    };
    const makeQueue = makeBrowserOfflineTransport(() => ({ ...direct, send }));
    const queued = makeQueue({ ...options, maxQueueSize: MAX_ENVELOPES, flushAtStartup: true });
    return {
      flush: (timeout) => queued.flush(timeout),
      // The SDK would store every replay before sending it.
      send: (envelope) => (queueNote(envelope) ? queued : direct).send(envelope),
    };
  };
}
