/**
 * Every check of the suite: its id (also the name of its rate metric), its description, and the share of samples that must
 * pass. A share below 1 allows for timing and rate limits only, never for a result that must not occur.
 */
export const CHECKS = {
  continued_trace: { name: "continued: the page keeps the trace id it was sent", share: 1 },
  continued_span: { name: "continued: the page has its own span id", share: 1 },
  continued_sampled: { name: "continued: the page keeps the sampling decision", share: 1 },
  continued_baggage: { name: "continued: the page keeps the sampling fields in baggage", share: 1 },
  fresh_valid: { name: "fresh: a page requested without a trace starts a valid one", share: 1 },
  fresh_unique: { name: "fresh: no two clients share a trace", share: 1 },
  forwarded: { name: "forwarded: the app receives the trace headers as sent", share: 1 },
  outgoing_trace: { name: "outgoing: the app's own call carries the page's trace", share: 1 },
  outgoing_traceparent: { name: "outgoing: its traceparent names the same trace", share: 1 },
  outgoing_baggage: { name: "outgoing: the app's own call carries the sampling fields", share: 1 },
  outgoing_vendor: { name: "outgoing: a third party's baggage member is intact or removed", share: 1 },
  invalid_headers_page: { name: "invalid headers: an invalid trace header never breaks a page", share: 1 },
  invalid_headers_echo: { name: "invalid headers: they are neither echoed nor continued", share: 1 },
  no_trace_headers: { name: "response: no response carries a trace header", share: 1 },
  page_ok: { name: "page: responds 200 with HTML", share: 1 },
  navigation_ok: { name: "navigation: responds 200 with a component payload", share: 1 },
  action_ok: { name: "action: the form is accepted and the page returned", share: 1 },
  redirect_ok: { name: "redirect: leads to a page", share: 1 },
  asset_ok: { name: "asset: every file that the page references exists", share: 1 },
  not_found_status: { name: "404: an unknown address is not a page", share: 1 },
  not_found_noindex: { name: "404: carries X-Robots-Tag: noindex", share: 1 },
  indexable: { name: "404: no other response carries X-Robots-Tag: noindex", share: 1 },
  tunnel_accepted: { name: "tunnel: an envelope is accepted", share: 1 },
  tunnel_within_limits: { name: "tunnel: nine in ten envelopes are not rate-limited", share: 0.9 },
  tunnel_rejected: { name: "tunnel: an envelope for a foreign project is rejected", share: 1 },
  tunnel_retryable: { name: "tunnel: other envelopes are queued or can be retried", share: 1 },
  page_independent: { name: "tunnel: pages stay as fast while envelopes are sent", share: 0.75 },
  iteration_ok: { name: "script: no iteration threw an exception", share: 1 },
} as const;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS = Object.keys(CHECKS) as CheckId[];
