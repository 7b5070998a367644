/**
 * Every check: its id, and what must hold. A request without an answer counts towards availability instead. `share` is for checks that may
 * fail sometimes.
 */
export const CHECKS = {
  continued_trace: { name: "continued: each page keeps the trace id it was sent" },
  continued_span: { name: "continued: the page has its own span id" },
  continued_sampled: { name: "continued: the page keeps the sampling decision" },
  continued_baggage: { name: "continued: the page keeps the sampling fields in baggage" },
  fresh_valid: { name: "fresh: a page requested without a trace starts a valid one" },
  fresh_unique: { name: "fresh: no two clients share a trace or a span" },
  same_settings: { name: "fresh: all pages have one release, environment, key and rate, as declared" },
  forwarded: { name: "forwarded: the app receives trace headers and cookies as sent" },
  outgoing_trace: { name: "outgoing: the app's own call carries the page's trace" },
  outgoing_traceparent: { name: "outgoing: its traceparent names the same trace" },
  outgoing_baggage: { name: "outgoing: the app's own call carries the sampling fields" },
  outgoing_vendor: { name: "outgoing: a third party's baggage member is intact or removed" },
  invalid_headers_page: { name: "invalid headers: an invalid trace header never breaks a page" },
  invalid_headers_echo: { name: "invalid headers: they are neither echoed nor continued" },
  no_trace_headers: { name: "response: no response carries a trace header" },
  no_trace_cookie: { name: "response: no cookie carries a trace id" },
  not_shared: { name: "response: no shared cache may store a page with a trace or cookie" },
  own_session: { name: "response: no two visitors get the same session" },
  page_ok: { name: "page: responds 200 with HTML in UTF-8" },
  page_complete: { name: "page: is complete, without an error text, with its EXPECT_TEXT" },
  page_headers: { name: "page: has EXPECT_HEADERS, and the security headers of the first page" },
  page_nonce: { name: "page: its scripts have the policy's nonce, a new one each time" },
  navigation_ok: { name: "navigation: responds 200 with the payload of its page, in its trace" },
  action_ok: { name: "action: the form is accepted and its result shown" },
  action_once: { name: "action: it ran once" },
  redirect_ok: { name: "redirect: leads to the right page on this origin, and is not cached" },
  asset_ok: { name: "asset: every file of a page exists, whole, of its type, and never changes" },
  not_found_status: { name: "404: an unknown address is not a page" },
  not_found_noindex: { name: "404: is marked noindex" },
  indexable: { name: "404: no other response is marked noindex" },
  tunnel_accepted: { name: "tunnel: an envelope is accepted" },
  tunnel_compressed: { name: "tunnel: a compressed envelope is accepted, as servers send it" },
  tunnel_answer: { name: "tunnel: the answer is an ingest's, with the event's id" },
  tunnel_rejected: { name: "tunnel: an envelope for a foreign project is rejected" },
  tunnel_retryable: { name: "tunnel: a rate limit names its categories" },
  delivered: { name: "delivery: every accepted envelope arrived" },
  unaltered: { name: "delivery: every envelope arrived as sent, in its project" },
  delivered_once: { name: "delivery: no envelope arrived twice" },
  browser_runs: { name: "browser: pages run: no error, and React has hydrated them" },
  iteration_ok: { name: "script: no iteration threw an exception" },
  tunnel_within_limits: { name: "tunnel: nine in ten envelopes are not rate-limited", share: 0.9 },
} as const satisfies Record<string, { name: string; share?: number }>;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS = Object.keys(CHECKS) as CheckId[];

export function shareOf(id: CheckId): number {
  const check: { name: string; share?: number } = CHECKS[id];
  return check.share ?? 1;
}
