import { scrub, scrubText } from "./scrub";

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and each is scrubbed in the same way
type Envelope = any;
type Transport<R> = { send(envelope: Envelope): PromiseLike<R>; flush(timeout?: number): PromiseLike<boolean> };

/** What `beforeSend` and `beforeSendTransaction` have scrubbed (options.ts): once is enough for the largest of all. */
const SCRUBBED_BEFORE = new Set(["event", "transaction"]);

/**
 * Takes the SDK's way to make a transport and returns one that scrubs each envelope just before it is sent, its header included.
 * Hooks do not reach everything, and which ones are called depends on the SDK's version and `traceLifecycle`: streamed spans never
 * pass `beforeSendTransaction`, and sessions, feedback, check-ins and metrics have no hook that both lines share.
 */
export function scrubbing<Options, R>(make: (options: Options) => Transport<R>) {
  return (options: Options): Transport<R> => {
    const transport = make(options);
    return {
      flush: (timeout) => transport.flush(timeout),
      send: (envelope) => transport.send(scrubEnvelope(envelope)),
    };
  };
}

/** Takes an envelope and returns it without secrets. Payloads that are bytes or text, such as a replay's recording, stay as they are. */
function scrubEnvelope([header, items]: Envelope): Envelope {
  const clean = items.map(([itemHeader, payload]: [{ type: string }, unknown]) => [
    itemHeader,
    typeof payload === "string" || SCRUBBED_BEFORE.has(itemHeader.type) ? payload : scrub(payload),
  ]);
  return [scrub(header), clean];
}

type Client = { on(hook: "createDsc", callback: (context: { transaction?: string }) => void): unknown };

/**
 * Takes the SDK's client and scrubs the name of the root span where it is handed on: in the `baggage` header of outgoing calls and of
 * the page, and in envelope headers (https://develop.sentry.dev/sdk/telemetry/traces/dynamic-sampling-context/).
 */
export function scrubTraceNames(client: Client | undefined): void {
  client?.on("createDsc", (context) => {
    if (context.transaction) context.transaction = scrubText(context.transaction);
  });
}
