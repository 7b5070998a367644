import { captureException, getClient, isEnabled } from "#sdk";
import { digestOf } from "./digest.js";
import { eventIdOf } from "./request-id.js";

const shownDigests = new Set<string>();

/**
 * Takes what an error boundary caught, and the document before the error page is shown. Returns an object with the digest, if known, for an error of
 * the server, which has sent its event; undefined for one of the browser. What a component throws on both sides has no digest: the server then sent
 * a bare document, or left a part of the page to the browser and put the digest in its place.
 */
export function serverError(error: unknown, page: Document | undefined): { digest: string | undefined } | undefined {
  const digest = digestOf(error) ?? (page && leftToBrowser(page));
  // The bare document that Next sends when rendering threw. React has not replaced it yet, so this is the first render.
  const failed = page?.documentElement.id === "__next_error__";
  return digest || failed ? { digest } : undefined;
}

/** Takes the digest that the error page shows; later errors in the browser are not attributed to it again. */
export function markShown(digest: string | undefined): void {
  if (digest) shownDigests.add(digest);
}

/** The digests in React's markers of parts that failed on the server (ReactFizzConfigDOM). */
const digestsIn = (page: Document) =>
  [...page.querySelectorAll("template[data-dgst]")].map((marker) => marker.getAttribute("data-dgst"));
// React removes a marker while it loads the code of its part.
const digestsAtStart = globalThis.document ? digestsIn(document) : [];
const leftToBrowser = (page: Document): string | undefined =>
  [...digestsAtStart, ...digestsIn(page)].find((digest) => digest && !shownDigests.has(digest)) ?? undefined;

/** Returns whether telemetry is on, for this page and its server: both get the DSN from one setting. */
export const isReporting = (): boolean => isEnabled();

/** Takes a request's id and returns the id of the server's event of the exception that ended it, if one was sent: see event-id.ts. */
export const serverEventId = (requestId: string | undefined): string | undefined =>
  isReporting() && process.env.CULVERT_REQUEST_IDS !== "off" ? eventIdOf(requestId) : undefined;

const eventIds = new Map<string, string>();

/**
 * Sends an exception that an error boundary caught in the browser and returns the event id; undefined if it was not sent, for which the SDK returns
 * an id as well. When a retry throws it again, the SDK sends no second event: the id is the first one's.
 */
export function reportFromBoundary(error: unknown): string | undefined {
  const text = String(error);
  const stop = getClient()?.on("beforeSendEvent", ({ event_id }) => event_id && eventIds.set(text, event_id));
  captureException(error, { mechanism: { type: "auto.react.error_boundary", handled: true } });
  stop?.();
  return eventIds.get(text);
}
