import { captureException } from "@sentry/nextjs";
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

/**
 * Takes what an error boundary caught; returns whether it happened on the server, which has reported it then. A digest says
 * so; else the browser is only repeating a render that failed there already, when a component throws on both sides.
 */
export function isFromServer(error: unknown): boolean {
  return digestOf(error) !== undefined || documentFailed;
}

/** Takes an exception that an error boundary caught in the browser, reports it, and returns the event's id. */
export function reportFromBoundary(error: unknown): string {
  return captureException(error, { mechanism: { type: "auto.react.error_boundary", handled: true } });
}
