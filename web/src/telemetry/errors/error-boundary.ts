import { captureException, getClient, isEnabled } from "@sentry/nextjs";
import { digestOf } from "./digest";

let documentFailed = false;

/** Takes the document as it was loaded, and remembers whether it is the bare one that Next sends when rendering threw. */
export function noteDocument(page: Document): void {
  documentFailed = page.documentElement.id === "__next_error__";
}

/** The first render in the browser is over: what goes wrong from now on went wrong here. */
export function firstRenderDone(): void {
  documentFailed = false;
}

const claimed = new Set<string>();

/**
 * Takes what an error boundary caught while the page still shows what it showed before; returns whether it happened on the
 * server, which has reported it then, and by which digest. An error from the server has a digest itself. One that a component throws
 * on both sides has not: the server then sent a bare document, or left a part of the page to the browser, with the digest in its place.
 */
export function serverError(error: unknown, page: Document | undefined): { digest: string | undefined } | undefined {
  const digest = digestOf(error) ?? (page && leftToBrowser(page));
  return digest || documentFailed ? { digest } : undefined;
}

/** The error page is shown: what the browser throws from now on is not the exception of this digest. */
export function claim(digest: string | undefined): void {
  if (digest) claimed.add(digest);
}

/** React's mark of a part that failed on the server (ReactFizzConfigDOM), and that of our page without scripts (error-page-html.ts). */
function leftToBrowser(page: Document): string | undefined {
  const marks = [...page.querySelectorAll("template[data-dgst]")].map((mark) => mark.getAttribute("data-dgst"));
  return marks.find((digest) => digest && !claimed.has(digest)) ?? undefined;
}

/** Whether anything is reported, by this page and by the server that made it: they have the DSN from one setting. */
export function isReporting(): boolean {
  return isEnabled();
}

const sent = new Map<string, string>();

/**
 * Takes an exception that an error boundary caught in the browser, reports it, and returns the event's id; undefined when there is
 * none, for which the SDK has an id as well. Of one that a retry meets again the SDK sends no second event: it has the first one's id.
 */
export function reportFromBoundary(error: unknown): string | undefined {
  const words = String(error);
  const stop = getClient()?.on("beforeSendEvent", ({ event_id }) => event_id && sent.set(words, event_id));
  captureException(error, { mechanism: { type: "auto.react.error_boundary", handled: true } });
  stop?.();
  return sent.get(words);
}
