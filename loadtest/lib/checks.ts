/** Every check, and what must hold. A request without an answer counts as unavailable instead. */
export const CHECKS = {
  continued_trace: "continued: each page keeps the trace id it was sent",
  continued_span: "continued: the page has its own span id",
  continued_sampled: "continued: the page keeps the sampling decision",
  continued_baggage: "continued: the page keeps the sampling fields in baggage",
  fresh_valid: "fresh: a page requested without a trace starts a valid one",
  fresh_unique: "fresh: no two clients share a trace or a span",
  same_settings: "fresh: all pages have one release, environment, key and rate, as declared",
  forwarded: "forwarded: the app receives trace headers and cookies as sent",
  outgoing_trace: "outgoing: the app's own call carries the page's trace",
  outgoing_traceparent: "outgoing: its traceparent names the same trace",
  outgoing_baggage: "outgoing: the app's own call carries the sampling fields",
  outgoing_vendor: "outgoing: a third party's baggage member is intact or removed",
  invalid_headers_page: "invalid headers: an invalid trace header never breaks a page",
  invalid_headers_echo: "invalid headers: they are neither echoed nor continued",
  no_trace_headers: "response: no response carries a trace header",
  no_trace_cookie: "response: no cookie carries a trace id",
  not_shared: "response: no shared cache may store a page with a trace or cookie",
  own_session: "response: no two visitors get the same session",
  page_ok: "page: responds 200 with HTML in UTF-8",
  page_complete: "page: is complete, without an error text, with its EXPECT_TEXT",
  page_headers: "page: has EXPECT_HEADERS, and the security headers of the first page",
  page_nonce: "page: its scripts have the policy's nonce, a new one each time",
  navigation_ok: "navigation: responds 200 with the payload of its page, in its trace",
  action_ok: "action: the form is accepted and its result shown",
  action_once: "action: it ran once",
  redirect_ok: "redirect: leads to the right page on this origin, and is not cached",
  asset_ok: "asset: every file of a page exists, whole, of its type, and never changes",
  not_found_status: "404: an unknown address is not a page",
  not_found_noindex: "404: is marked noindex",
  indexable: "404: no other response is marked noindex",
  tunnel_accepted: "tunnel: an envelope is accepted",
  tunnel_compressed: "tunnel: a compressed envelope is accepted, as servers send it",
  tunnel_answer: "tunnel: the answer is an ingest's, with the event's id",
  tunnel_rejected: "tunnel: an envelope for a foreign project is rejected",
  tunnel_retryable: "tunnel: a rate limit names its categories",
  delivered: "delivery: every accepted envelope arrived",
  unaltered: "delivery: every envelope arrived as sent, in its project",
  delivered_once: "delivery: no envelope arrived twice",
  browser_runs: "browser: pages run: no error, and React has hydrated them",
  iteration_ok: "script: no iteration threw an exception",
  tunnel_within_limits: "tunnel: nine in ten envelopes are not rate-limited",
} as const;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS = Object.keys(CHECKS) as CheckId[];

/** The share of its results that must pass. */
export const shareOf = (id: CheckId): number => (id === "tunnel_within_limits" ? 0.9 : 1);
