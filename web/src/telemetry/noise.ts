/** Set on the root span of a page view that ended on the not-found page. */
export const NOT_FOUND = "culvert.not_found";

/** Traces of addresses that don't exist: whoever guesses paths would otherwise fill the quota. */
export const ignoredSpans: { op?: string; attributes: Record<string, number | boolean> }[] = [
  { op: "http.server", attributes: { "http.status_code": 404 } },
  { attributes: { [NOT_FOUND]: true } },
];
