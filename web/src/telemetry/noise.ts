/** Set on the root span of a page view that ended on the not-found page. */
export const NOT_FOUND = "culvert.not_found";

/** Traces of addresses that don't exist: whoever guesses paths would otherwise fill the quota. */
export const ignoredSpans: { op?: string; attributes: Record<string, number | boolean> }[] = [
  { op: "http.server", attributes: { "http.status_code": 404 } },
  { attributes: { [NOT_FOUND]: true } },
];

type Span = { data?: Record<string, unknown> };
type Transaction = { contexts?: { trace?: Span }; spans?: Span[] };

/**
 * Takes a transaction of the browser and returns it, or null for a navigation to an address that doesn't exist: Next
 * then loads the not-found page as a new document, and this is what is left of the attempt.
 */
export function dropDeadEnd<T extends Transaction>(transaction: T): T | null {
  const path = transaction.contexts?.trace?.data?.["url.path"];
  const deadEnd = transaction.spans?.some(({ data = {} }) => {
    const asked = new URL(String(data["http.url"]), "http://relative");
    const isPage = asked.pathname === path && asked.searchParams.has("_rsc");
    return isPage && data["http.response.status_code"] === 404;
  });
  return deadEnd ? null : transaction;
}
