import { record } from "./send-outcomes";

type Response = { statusCode?: number; headers?: Record<string, string | null | undefined> };
// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and only headers are read here
type Envelope = any;
/** Where an envelope is kept when nobody took it, in words; undefined when it is not. */
type Keeps = (envelope: Envelope) => string | undefined;
type Transport<R> = { send(envelope: Envelope): PromiseLike<R>; flush(timeout?: number): PromiseLike<boolean> };

/** Whether a status says that nobody took the report; every other one is an answer of who read it. */
export function isAway(status: number | undefined): boolean {
  return status === 502 || status === 503 || status === 504;
}

/** Envelope items whose category has another name: https://develop.sentry.dev/sdk/foundations/transport/envelope-items/ */
const CATEGORY: Record<string, string> = { event: "error", sessions: "session", client_report: "client report" };

const IN_SPOOL = "the ingest did not take it; the spool has it";

/**
 * Takes the SDK's way to make a transport, and where an envelope is kept that nobody took; returns one that also records what
 * becomes of each envelope. It sits where the SDK hands envelopes over, so it works against any ingest or tunnel.
 */
export function watched<Options, R extends Response>(
  make: (options: Options) => Transport<R>,
  keeps: Keeps = () => undefined,
) {
  return (options: Options): Transport<R> => {
    const transport = make(options);
    return {
      flush: (timeout) => transport.flush(timeout),
      send: async (envelope) => {
        const at = Date.now();
        const started = performance.now();
        const tell = (response: Response | undefined) =>
          record({
            at,
            ...contents(envelope),
            ...result(response, keeps(envelope)),
            latencyMs: Math.round(performance.now() - started),
          });
        try {
          const response = await transport.send(envelope);
          tell(response);
          return response;
        } catch (error) {
          tell(undefined);
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

function result(response: Response | undefined, kept: string | undefined) {
  const status = response?.statusCode;
  if (kept && (!response || isAway(status))) return { outcome: "kept", status, note: kept } as const;
  // To the server alone: the proxy tells no visitor, and the browser's SDK would not hand it on.
  if (response?.headers?.["x-envelope-outcome"]) return { outcome: "kept", status, note: IN_SPOOL } as const;
  const note = limitsIn(response?.headers);
  if (!response) return { outcome: "no answer", status, note } as const;
  // An envelope of which nothing was sent gets an empty answer from the SDK itself.
  if (status === undefined) return { outcome: "held back", status, note: "a rate limit is in force" } as const;
  return { outcome: status < 300 ? "taken" : "refused", status, note } as const;
}

/** Takes an answer's headers and says in words what they ask to be quiet about, if anything. */
export function limitsIn(headers: Response["headers"] = {}): string | undefined {
  const limits = headers["x-sentry-rate-limits"];
  if (!limits) return headers["retry-after"] ? `nothing for ${headers["retry-after"]} s` : undefined;
  const words = limits.split(",").map((limit) => {
    const [seconds, categories] = limit.trim().split(":");
    return `${categories ? `no ${categories.replaceAll(";", ", ")}` : "nothing"} for ${seconds} s`;
  });
  return words.join("; ");
}
