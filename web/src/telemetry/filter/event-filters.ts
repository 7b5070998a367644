import { digestOf } from "../errors/digest";

/** Set on the root span of a page view that ended on the not-found page. */
export const NOT_FOUND = "culvert.not_found";

/** Traces of addresses that don't exist: whoever guesses paths would otherwise fill the quota. */
export const ignoredSpans: { op?: string; attributes: Record<string, number | boolean> }[] = [
  { op: "http.server", attributes: { "http.status_code": 404 } },
  { attributes: { [NOT_FOUND]: true } },
];

type Frame = { filename?: string };
type Exception = {
  type?: string;
  value?: string;
  stacktrace?: { frames?: Frame[] };
  mechanism?: { type?: string; handled?: boolean };
};
export type ErrorEvent = { message?: string; exception?: { values?: Exception[] } };
type Seen = { text: string; frames: Frame[]; original: unknown };

const says = (pattern: RegExp) => (seen: Seen) => pattern.test(seen.text);

/**
 * The errors that are not worth a report, each with its reason. What may mean that our own proxy or server is down
 * ("Failed to fetch", a chunk that does not load, a call given up because no answer came) is not in here: it is the one thing
 * that must arrive.
 */
const NOISE: { reason: string; is: (seen: Seen) => boolean }[] = [
  {
    reason: "the browser laid out in two passes; nothing failed",
    is: says(/^ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/),
  },
  {
    reason: "a script of another site failed, and the browser tells nothing about it",
    is: (seen) => /^Script error\.?$/.test(seen.text) && seen.frames.length < 2,
  },
  {
    reason: "a browser extension's error",
    is: (seen) => /^(?:[\w-]+-extension:\/\/|webkit-masked-url:)/.test(seen.frames.at(-1)?.filename ?? ""),
  },
  {
    reason: "an in-app browser's own script failed",
    is: says(
      /\b(?:__gCrWeb|_AutofillCallbackHandler|zaloJSV2|instantSearchSDKJSBridgeClearHighlight|webkit\.messageHandlers)\b/,
    ),
  },
  {
    reason: "a mail scanner opened the link",
    is: says(/Object Not Found Matching Id:\d+, MethodName:\w+/),
  },
  {
    reason: "Next's way to redirect or to say not found",
    is: (seen) =>
      /^NEXT_(?:REDIRECT|NOT_FOUND|HTTP_ERROR_FALLBACK|PREFETCH)/.test(digestOf(seen.original) ?? seen.text),
  },
  {
    // Without a digest nobody has: the server or the proxy died in the middle of the page.
    reason: "React's echo of an exception that the server has reported",
    is: (seen) => digestOf(seen.original) !== undefined && /^Minified React error #(?:419|441);/.test(seen.text),
  },
];

/** Takes an error event and the thing thrown; returns why it is noise, or undefined when it is worth a report. */
export function noiseReason(event: ErrorEvent, original?: unknown): string | undefined {
  const exception = event.exception?.values?.at(-1);
  const seen = {
    text: exception?.value ?? event.message ?? "",
    frames: exception?.stacktrace?.frames ?? [],
    original,
  };
  return NOISE.find(({ is }) => is(seen))?.reason;
}

type Span = { data?: Record<string, unknown> };
type Transaction = { contexts?: { trace?: Span }; spans?: Span[] };

/**
 * Takes a transaction of the browser and returns it, or null for a navigation to an address that doesn't exist: Next
 * then loads the not-found page as a new document, and this is what is left of the attempt.
 */
export function dropDeadEnd<T extends object>(transaction: T & Transaction): T | null {
  const path = transaction.contexts?.trace?.data?.["url.path"];
  const deadEnd = transaction.spans?.some(({ data = {} }) => {
    const asked = new URL(String(data["http.url"]), "http://relative");
    const isPage = asked.pathname === path && asked.searchParams.has("_rsc");
    return isPage && data["http.response.status_code"] === 404;
  });
  return deadEnd ? null : transaction;
}
