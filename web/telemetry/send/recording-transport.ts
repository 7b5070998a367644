import { recordOutcome, type SendOutcome } from "./send-outcomes.js";

type Response = { statusCode?: number; headers?: Record<string, string | null | undefined> };
// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and only headers are read here
type Envelope = any;
type Transport<R> = { send(envelope: Envelope): PromiseLike<R>; flush(timeout?: number): PromiseLike<boolean> };

/** Whether a status means that neither ingest nor spool was reached; another status is theirs or the proxy's. */
export const isUnavailable = (status: number | undefined): boolean => [502, 503, 504].includes(status ?? 0);

/** Envelope items whose category has another name: https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
const CATEGORY: Record<string, string> = { event: "error", sessions: "session", client_report: "client report" };

/**
 * Takes a transport factory, and a function that says where an envelope is queued when it is not accepted; returns a factory whose transport also
 * records what happens to each envelope. It wraps the SDK's own interface, so it works with any ingest or tunnel.
 */
export function recordingOutcomes<Options, R extends Response>(
  make: (options: Options) => Transport<R>,
  queueNote: (envelope: Envelope) => string | undefined = () => undefined,
) {
  return (options: Options): Transport<R> => {
    const transport = make(options);
    return {
      flush: (timeout) => transport.flush(timeout),
      send: async (envelope) => {
        const [at, started] = [Date.now(), performance.now()];
        let response: R | undefined;
        try {
          response = await transport.send(envelope);
          return response;
        } finally {
          const latencyMs = Math.round(performance.now() - started);
          const [{ event_id: eventId }, items] = envelope;
          const types: string[] = items.map(([{ type }]: [{ type: string }]) => CATEGORY[type] ?? type);
          const category = [...new Set(types)].join(", ");
          recordOutcome({ at, eventId, category, ...outcomeOf(response, queueNote(envelope)), latencyMs });
        }
      },
    };
  };
}

function outcomeOf(
  response: Response | undefined,
  queued: string | undefined,
): Pick<SendOutcome, "outcome" | "status" | "note"> {
  const status = response?.statusCode;
  if (queued && (!response || isUnavailable(status))) return { outcome: "queued", status, note: queued };
  // Only the server gets this header: the proxy removes it for browsers, and the browser's SDK would not pass it on.
  if (response?.headers?.["x-envelope-outcome"])
    return { outcome: "queued", status, note: "the ingest did not accept it; it is queued in the spool" };
  const note = describeRateLimits(response?.headers);
  if (!response) return { outcome: "failed", note };
  // The SDK resolves with an empty response when a rate limit kept it from sending the envelope.
  if (status === undefined) return { outcome: "rate limited", note: "a rate limit is in force" };
  return { outcome: status < 300 ? "accepted" : "rejected", status, note };
}

function describeRateLimits(headers: Response["headers"] = {}): string | undefined {
  const limits = headers["x-sentry-rate-limits"];
  if (!limits) return headers["retry-after"] ? `nothing for ${headers["retry-after"]} s` : undefined;
  const descriptions = limits.split(",").map((limit) => {
    const [seconds, categories] = limit.trim().split(":");
    return `${categories ? `no ${categories.replaceAll(";", ", ")}` : "nothing"} for ${seconds} s`;
  });
  return descriptions.join("; ");
}
