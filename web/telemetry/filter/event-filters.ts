import { digestOf } from "../errors/digest.js";

/** Set on the root span of a page view that ended on the not-found page. */
export const NOT_FOUND = "culvert.not_found";

/** Traces of pages that do not exist: clients that guess paths would otherwise use up the quota. */
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
type Candidate = { text: string; frames: Frame[]; original: unknown };

const textMatches = (pattern: RegExp) => (error: Candidate) => pattern.test(error.text);

/**
 * Filters for errors that need no action, each with its reason. Errors that may mean that our own proxy or server is down
 * ("Failed to fetch", a chunk that does not load, a timeout) are not filtered: those must arrive.
 */
const EVENT_FILTERS: { reason: string; matches: (error: Candidate) => boolean }[] = [
  {
    reason: "the browser needed two layout passes; nothing failed",
    matches: textMatches(/^ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/),
  },
  {
    reason: "a script of another origin failed, and the browser gives no details",
    matches: (error) => /^Script error\.?$/.test(error.text) && error.frames.length < 2,
  },
  {
    reason: "a browser extension's error",
    matches: (error) => /^(?:[\w-]+-extension:\/\/|webkit-masked-url:)/.test(error.frames.at(-1)?.filename ?? ""),
  },
  {
    reason: "an in-app browser's own script failed",
    matches: textMatches(
      /\b(?:__gCrWeb|_AutofillCallbackHandler|zaloJSV2|instantSearchSDKJSBridgeClearHighlight|webkit\.messageHandlers)\b/,
    ),
  },
  {
    reason: "a mail scanner opened the link",
    matches: textMatches(/Object Not Found Matching Id:\d+, MethodName:\w+/),
  },
  {
    reason: "Next's internal redirect or not-found exception",
    matches: (error) =>
      /^NEXT_(?:REDIRECT|NOT_FOUND|HTTP_ERROR_FALLBACK|PREFETCH)/.test(digestOf(error.original) ?? error.text),
  },
  {
    // Without a digest the server has sent nothing: server or proxy stopped in the middle of the page.
    reason: "React repeats an exception that the server has sent",
    matches: (error) =>
      digestOf(error.original) !== undefined && /^Minified React error #(?:419|441);/.test(error.text),
  },
];

/** Takes an error event and the exception behind it; returns why it is filtered, or undefined if it is to be sent. */
export function filterReason(event: ErrorEvent, original?: unknown): string | undefined {
  const exception = event.exception?.values?.at(-1);
  const error = {
    text: exception?.value ?? event.message ?? "",
    frames: exception?.stacktrace?.frames ?? [],
    original,
  };
  return EVENT_FILTERS.find(({ matches }) => matches(error))?.reason;
}

type Span = { data?: Record<string, unknown> };
type Transaction = { contexts?: { trace?: Span }; spans?: Span[] };

/**
 * Takes a transaction of the browser and returns it, or null for a navigation to a page that does not exist: Next then loads
 * the not-found page as a new document, which has a transaction of its own.
 */
export function dropNotFoundNavigation<T extends object>(transaction: T & Transaction): T | null {
  const path = transaction.contexts?.trace?.data?.["url.path"];
  const notFound = transaction.spans?.some(({ data = {} }) => {
    const requested = new URL(String(data["http.url"]), "http://relative");
    const isPage = requested.pathname === path && requested.searchParams.has("_rsc");
    return isPage && data["http.response.status_code"] === 404;
  });
  return notFound ? null : transaction;
}
