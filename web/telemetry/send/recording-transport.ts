import { recordOutcome } from "./send-outcomes.js";

type Response = { statusCode?: number; headers?: Record<string, string | null | undefined> };
// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and only headers are read here
type Envelope = any;
/** Where an envelope is queued when it is not accepted, as a note for people; undefined when it is not queued. */
type QueueNote = (envelope: Envelope) => string | undefined;
type Transport<R> = { send(envelope: Envelope): PromiseLike<R>; flush(timeout?: number): PromiseLike<boolean> };

/** Whether a status means that neither ingest nor spool was reached; every other status is an ingest's own response. */
export function isUnavailable(status: number | undefined): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Envelope items whose category has another name: https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
const CATEGORY: Record<string, string> = { event: "error", sessions: "session", client_report: "client report" };

const QUEUED_IN_SPOOL = "the ingest did not accept it; it is queued in the spool";

/**
 * Takes a transport factory, and where an envelope is queued when it is not accepted; returns a factory whose transport also
 * records what happens to each envelope. It wraps the SDK's own interface, so it works with any ingest or tunnel.
 */
export function recordingOutcomes<Options, R extends Response>(
  make: (options: Options) => Transport<R>,
  queueNote: QueueNote = () => undefined,
) {
  return (options: Options): Transport<R> => {
    const transport = make(options);
    return {
      flush: (timeout) => transport.flush(timeout),
      send: async (envelope) => {
        const at = Date.now();
        const started = performance.now();
        const finish = (response: Response | undefined) =>
          recordOutcome({
            at,
            ...contents(envelope),
            ...outcomeOf(response, queueNote(envelope)),
            latencyMs: Math.round(performance.now() - started),
          });
        try {
          const response = await transport.send(envelope);
          finish(response);
          return response;
        } catch (error) {
          finish(undefined);
          throw error;
        }
      },
    };
  };
}

function contents([header, items]: Envelope): { eventId: string | undefined; category: string } {
  const types: string[] = items.map(([item]: [{ type: string }]) => CATEGORY[item.type] ?? item.type);
  return { eventId: header.event_id, category: [...new Set(types)].join(", ") };
}

function outcomeOf(response: Response | undefined, queued: string | undefined) {
  const status = response?.statusCode;
  if (queued && (!response || isUnavailable(status))) return { outcome: "queued", status, note: queued } as const;
  // Only the server gets this header: the proxy removes it for browsers, and the browser's SDK would not pass it on.
  if (response?.headers?.["x-envelope-outcome"]) return { outcome: "queued", status, note: QUEUED_IN_SPOOL } as const;
  const note = describeRateLimits(response?.headers);
  if (!response) return { outcome: "failed", status, note } as const;
  // The SDK resolves with an empty response when a rate limit kept it from sending the envelope.
  if (status === undefined) return { outcome: "rate limited", status, note: "a rate limit is in force" } as const;
  return { outcome: status < 300 ? "accepted" : "rejected", status, note } as const;
}

/** Takes a response's headers and returns the rate limits that they set, for people; undefined if there are none. */
export function describeRateLimits(headers: Response["headers"] = {}): string | undefined {
  const limits = headers["x-sentry-rate-limits"];
  if (!limits) return headers["retry-after"] ? `nothing for ${headers["retry-after"]} s` : undefined;
  const descriptions = limits.split(",").map((limit) => {
    const [seconds, categories] = limit.trim().split(":");
    return `${categories ? `no ${categories.replaceAll(";", ", ")}` : "nothing"} for ${seconds} s`;
  });
  return descriptions.join("; ");
}
