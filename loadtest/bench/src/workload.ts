/** The ingest of every contender: a name of Sentry's, because `tunnelRoute` accepts no other. On the test network it resolves to the sink. */
export const ingestHost = "o1.ingest.sentry.io";
export const dsn = `https://key@${ingestHost}/1`;

/** The tunnel's path, and the arguments that the SDK adds when it is built with `tunnelRoute`. */
export const tunnelPath = "/monitoring";
export const tunnelTarget = `${tunnelPath}?o=1&p=1`;

/** The path of the route with the handler of `@sentry/nextjs/tunnel`. */
export const handlerPath = "/tunnel-handler";

/** Size of an envelope in bytes: an error with about twenty stack frames. */
export const envelopeBytes = 1700;

/** An error as a browser sends it, exactly `envelopeBytes` long. */
export function envelope(): string {
  const id = "0123456789abcdef0123456789abcdef";
  const header = JSON.stringify({ event_id: id, sent_at: "2026-01-01T00:00:00.000Z", dsn });
  const event = (message: string) => JSON.stringify({ event_id: id, platform: "javascript", level: "error", message });
  const whole = (message: string) => `${header}\n{"type":"event"}\n${event(message)}`;
  return whole("x".repeat(envelopeBytes - whole("").length));
}
