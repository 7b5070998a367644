import { scrub } from "./scrub.js";

// biome-ignore lint/suspicious/noExplicitAny: the SDK's envelope types differ per item, and each is scrubbed in the same way
export type Envelope = any;

/**
 * Takes an envelope, just before it is sent, and scrubs it in place, its header included. Hooks such as `beforeSend` do not cover
 * everything, and which ones run depends on the SDK's version and `traceLifecycle`. Payloads that are bytes or text, such as a replay's
 * recording, are not changed.
 */
export function scrubEnvelope(envelope: Envelope): void {
  envelope[0] = scrub(envelope[0]);
  for (const item of envelope[1]) if (typeof item[1] !== "string") item[1] = scrub(item[1]);
}
