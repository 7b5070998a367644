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
  value?: string;
  stacktrace?: { frames?: Frame[] };
  mechanism?: { type?: string; handled?: boolean };
};
export type ErrorEvent = { message?: string; exception?: { values?: Exception[] } };
type Candidate = { text: string; frames: Frame[]; digest: string | undefined };

// Not filtered is what may mean that our own proxy or server is down ("Failed to fetch", a chunk that does not load, a timeout).
const EVENT_FILTERS: [reason: string, matches: (error: Candidate) => boolean][] = [
  [
    "the browser needed two layout passes; nothing failed",
    ({ text }) => /^ResizeObserver loop (?:limit exceeded|completed with undelivered notifications)/.test(text),
  ],
  [
    "a script of another origin failed, and the browser gives no details",
    ({ text, frames }) => /^Script error\.?$/.test(text) && frames.length < 2,
  ],
  [
    "a browser extension's error",
    ({ frames }) => /^(?:[\w-]+-extension:\/\/|webkit-masked-url:)/.test(frames.at(-1)?.filename ?? ""),
  ],
  [
    "an in-app browser's own script failed",
    ({ text }) =>
      /\b(?:__gCrWeb|_AutofillCallbackHandler|zaloJSV2|instantSearchSDKJSBridgeClearHighlight|webkit\.messageHandlers)\b/.test(
        text,
      ),
  ],
  ["a mail scanner opened the link", ({ text }) => /Object Not Found Matching Id:\d+, MethodName:\w+/.test(text)],
  [
    "Next's internal redirect or not-found exception",
    ({ text, digest }) => /^NEXT_(?:REDIRECT|NOT_FOUND|HTTP_ERROR_FALLBACK|PREFETCH)/.test(digest ?? text),
  ],
  // Without a digest the server has sent nothing: server or proxy stopped in the middle of the page.
  [
    "React repeats an exception that the server has sent",
    ({ text, digest }) => digest !== undefined && /^Minified React error #(?:419|441);/.test(text),
  ],
];

/** Takes an error event and the exception behind it; returns why it is filtered, or undefined if it is to be sent. */
export function filterReason(event: ErrorEvent, original?: unknown): string | undefined {
  const exception = event.exception?.values?.at(-1);
  const [text, frames] = [exception?.value ?? event.message ?? "", exception?.stacktrace?.frames ?? []];
  return EVENT_FILTERS.find(([, matches]) => matches({ text, frames, digest: digestOf(original) }))?.[0];
}

type Span = { data?: Record<string, unknown> };
type Transaction = { contexts?: { trace?: Span }; spans?: Span[] };

/** Whether a transaction of the browser is a navigation to a page that does not exist: Next then loads the not-found page as a new document, with its own. */
export function isNotFoundNavigation(transaction: object): boolean {
  const { contexts, spans } = transaction as Transaction;
  const path = contexts?.trace?.data?.["url.path"];
  return Boolean(
    spans?.some(({ data = {} }) => {
      const { pathname, searchParams } = new URL(String(data["http.url"]), "http://relative");
      return pathname === path && searchParams.has("_rsc") && data["http.response.status_code"] === 404;
    }),
  );
}
