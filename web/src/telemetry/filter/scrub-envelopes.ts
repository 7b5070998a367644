import { scrub, scrubText } from "./scrub";

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and each is scrubbed in the same way
type Envelope = any;
type Transport<R> = { send(envelope: Envelope): PromiseLike<R>; flush(timeout?: number): PromiseLike<boolean> };

/** Items that `beforeSend` and `beforeSendTransaction` (options.ts) have scrubbed already; they are the largest. */
const SCRUBBED_IN_HOOKS = new Set(["event", "transaction"]);

/**
 * Takes a transport factory and returns one whose transport scrubs each envelope just before it is sent, its header included.
 * Hooks do not cover everything, and which ones run depends on the SDK's version and `traceLifecycle`: streamed spans never
 * pass `beforeSendTransaction`, and sessions, feedback, check-ins and metrics have no hook that versions 10 and 11 share.
 */
export function scrubbingTransport<Options, R>(make: (options: Options) => Transport<R>) {
  return (options: Options): Transport<R> => {
    const transport = make(options);
    return {
      flush: (timeout) => transport.flush(timeout),
      send: (envelope) => transport.send(scrubEnvelope(envelope)),
    };
  };
}

/** Takes an envelope and returns it without secrets. Payloads that are bytes or text, such as a replay's recording, are not changed. */
function scrubEnvelope([header, items]: Envelope): Envelope {
  const clean = items.map(([itemHeader, payload]: [{ type: string }, unknown]) => [
    itemHeader,
    typeof payload === "string" || SCRUBBED_IN_HOOKS.has(itemHeader.type) ? payload : scrub(payload),
  ]);
  return [scrub(header), clean];
}

type Client = { on(hook: "createDsc", callback: (context: { transaction?: string }) => void): unknown };

/**
 * Takes the SDK's client and scrubs the name of the root span where it is propagated: in the `baggage` header of outgoing calls and of
 * the page, and in envelope headers (https://develop.sentry.dev/sdk/telemetry/traces/dynamic-sampling-context/).
 */
export function scrubTraceNames(client: Client | undefined): void {
  client?.on("createDsc", (context) => {
    if (context.transaction) context.transaction = scrubText(context.transaction);
  });
}
