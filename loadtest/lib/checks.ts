/**
 * Every check of the suite: its id (also the rate metric's name), what it says, and which share of samples must pass.
 * A share below 1 is for what a machine may miss now and then (timing, a report too many), never for what must not happen.
 */
export const CHECKS = {
  continued_trace: { name: "continued: the page carries the trace id it was sent", share: 1 },
  continued_span: { name: "continued: the page has a span id of its own", share: 1 },
  continued_sampled: { name: "continued: the page keeps the sampling decision", share: 1 },
  continued_baggage: { name: "continued: the page keeps the sampling fields in baggage", share: 1 },
  fresh_valid: { name: "fresh: a page asked for without a trace starts a valid one", share: 1 },
  fresh_unique: { name: "fresh: no two visitors share a trace", share: 1 },
  forwarded: { name: "forwarded: the app receives the trace headers as sent", share: 1 },
  outgoing_trace: { name: "outgoing: the app's own call carries the page's trace", share: 1 },
  outgoing_traceparent: { name: "outgoing: its traceparent tells the same trace", share: 1 },
  outgoing_baggage: { name: "outgoing: the app's own call carries the sampling fields", share: 1 },
  outgoing_vendor: { name: "outgoing: a third party's baggage member is whole or gone", share: 1 },
  hygiene_page: { name: "hygiene: a bad trace header never breaks a page", share: 1 },
  hygiene_echo: { name: "hygiene: a bad trace header is neither echoed nor followed", share: 1 },
  answers_clean: { name: "hygiene: no answer carries a trace header", share: 1 },
  page_ok: { name: "page: answers 200 with HTML", share: 1 },
  navigation_ok: { name: "navigation: answers 200 with a component payload", share: 1 },
  action_ok: { name: "action: the form answers and the page comes back", share: 1 },
  redirect_ok: { name: "redirect: leads to a page", share: 1 },
  asset_ok: { name: "asset: every file that the page names is there", share: 1 },
  not_found_status: { name: "404: an unknown address is not a page", share: 1 },
  not_found_noindex: { name: "404: carries X-Robots-Tag: noindex", share: 1 },
  indexable: { name: "404: no other answer carries X-Robots-Tag: noindex", share: 1 },
  tunnel_accepted: { name: "tunnel: a report is acknowledged", share: 1 },
  tunnel_open: { name: "tunnel: nine in ten reports are within its limits", share: 0.9 },
  tunnel_refused: { name: "tunnel: a report for a foreign project is refused", share: 1 },
  tunnel_honest: { name: "tunnel: what can't be taken now is kept or honestly refused", share: 1 },
  page_independent: { name: "tunnel: pages stay as fast while reports pour in", share: 0.75 },
  iteration_ok: { name: "script: no iteration threw", share: 1 },
} as const;

export type CheckId = keyof typeof CHECKS;

export const CHECK_IDS = Object.keys(CHECKS) as CheckId[];
