import type { CheckId } from "../lib/checks.ts";
import type { Answer, Fault, Seen } from "./stub.ts";

/** A fault, and what must name it: a check or part of the result, with words of its example. */
export interface Planted {
  fault: Fault;
  /** Default: smoke. */
  profile?: string;
  env?: Record<string, string>;
  /** Iterations of each scenario with the shim. */
  rounds?: number;
  expect: CheckId | "availability" | `row ${string}`;
  words: RegExp;
}

const isPage = ({ path, method }: Seen) => /^\/(?:products|trace|test-events)?(?:\?|$)/.test(path) && method === "GET";
const isDocument = (answer: Answer, seen: Seen) => isPage(seen) && answer.body.includes("<html");
const page = (change: (answer: Answer, seen: Seen) => void): Fault => ({
  response: (answer, seen) => isDocument(answer, seen) && change(answer, seen),
});
const at = (path: string, change: (answer: Answer, seen: Seen) => void): Fault => ({
  response: (answer, seen) => seen.path.startsWith(path) && change(answer, seen),
});
const answers = (path: string, answer: Partial<Answer>) => at(path, (old) => Object.assign(old, answer));
const header = (name: string, value: string): Fault => page(({ headers }) => Object.assign(headers, { [name]: value }));
const incoming = (change: (headers: Seen["headers"]) => void): Fault => ({ request: ({ headers }) => change(headers) });
const LOGIN = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html><body>Please log in</body></html>",
};
/** The header of an envelope and a part of its items. */
const cutEnvelope = (raw: Buffer) =>
  raw.subarray(0, raw.indexOf(10) + 1 + Math.floor((raw.length - raw.indexOf(10)) * 0.6));

/** Pages swapped between two concurrent requests: each gets the other's trace. */
function swap(): Fault {
  let before: string | undefined;
  return {
    request: (seen) => {
      const own = seen.headers["sentry-trace"];
      if (seen.path !== "/" || seen.method !== "GET" || !own) return;
      if (seen.count % 40 > 28 && before) seen.headers["sentry-trace"] = before;
      before = String(own);
    },
  };
}

/** Every fault that the suite must detect. */
export const FAULTS: Record<string, Planted> = {
  // Trace headers.
  "proxy drops baggage": {
    fault: incoming((headers) => delete headers.baggage),
    expect: "forwarded",
    words: /baggage sent as .*did not arrive/,
  },
  "proxy drops sentry-trace": {
    fault: incoming((headers) => delete headers["sentry-trace"]),
    expect: "continued_trace",
    words: /sent trace 10ad7e5710ad[0-9a-f]{20}, the page is in trace [0-9a-f]{32}/,
  },
  "proxy rewrites traceparent": {
    fault: incoming(
      (headers) => headers.traceparent && (headers.traceparent = `${headers.traceparent.slice(0, -2)}99`),
    ),
    expect: "forwarded",
    words: /traceparent sent as "00-.*-0[01]", arrived as "00-.*-99"/,
  },
  "proxy adds a second sentry-trace": {
    fault: incoming(
      (headers) => (headers["sentry-trace"] = `${headers["sentry-trace"]}, ${"b".repeat(32)}-${"c".repeat(16)}-1`),
    ),
    expect: "forwarded",
    words: /1 more: a second header/,
  },
  "sampling flag flipped": {
    fault: { app: "flips sampled" },
    expect: "continued_sampled",
    words: /sent sampled (true|false), got (true|false)/,
  },
  "sampling rate rewritten": {
    fault: { app: "changes baggage" },
    expect: "continued_baggage",
    words: /sample_rate was "0.5", is "1"/,
  },
  "the caller's span id is reused": {
    fault: { app: "same span" },
    expect: "continued_span",
    words: /sent span ([0-9a-f]{16}), the page has span \1/,
  },
  "a trace without a decision is not continued": {
    fault: incoming(
      (headers) => /^\w{32}-\w{16}$/.test(String(headers["sentry-trace"])) && delete headers["sentry-trace"],
    ),
    expect: "continued_caller",
    words: /no sampling decision: sent trace/,
  },
  "upstream call without a trace": {
    fault: { app: "upstream untraced" },
    expect: "outgoing_trace",
    words: /sent 10ad7e5710ad/,
  },
  "upstream call with a traceparent of another trace": {
    fault: { app: "other traceparent" },
    expect: "outgoing_traceparent",
    words: /the page shows: Outgoing/,
  },
  "a third party's baggage is changed": {
    fault: { app: "changes vendor" },
    expect: "outgoing_vendor",
    words: /the API received ".*vendor=/,
  },
  // Traces that clients share.
  "a page is cached with its trace": {
    fault: { app: "cached page" },
    expect: "fresh_unique",
    words: /trace [0-9a-f]{32} (existed before the run|was (given|sent))/,
  },
  "the 404 page is cached with its trace": {
    fault: { app: "cached 404" },
    env: { ONLY: "notFound" },
    expect: "fresh_unique",
    words: /was given to another client/,
  },
  "concurrent clients are mixed up": {
    fault: { app: "mixed up" },
    expect: "fresh_unique",
    words: /trace [0-9a-f]{32} (was given to another client|existed before the run)/,
  },
  "two clients' pages are swapped": {
    fault: swap(),
    expect: "concurrent_trace",
    // With k6, the other client may be another journey's, not one of the ten requests.
    words: /is in trace 10ad7e5710ad[0-9a-f]{20}/,
  },
  "Cache-Control: public on a traced page": {
    fault: header("cache-control", "public, max-age=60"),
    env: { ONLY: "browse" },
    expect: "not_shared",
    words: /Cache-Control "public, max-age=60"/,
  },
  "s-maxage on a traced page": {
    fault: header("cache-control", "s-maxage=10"),
    env: { ONLY: "browse" },
    expect: "not_shared",
    words: /s-maxage=10/,
  },
  "the trace id is copied into a cookie": {
    fault: page((answer) =>
      Object.assign(answer.headers, { "set-cookie": `t=${/sentry-trace" content="(\w{32})/.exec(answer.body)?.[1]}` }),
    ),
    env: { ONLY: "browse" },
    expect: "no_trace_cookie",
    words: /Set-Cookie: t=[0-9a-f]{32}/,
  },
  "responses carry trace headers": {
    fault: header("sentry-trace", `${"a".repeat(32)}-${"b".repeat(16)}-1`),
    env: { ONLY: "browse" },
    expect: "no_trace_headers",
    words: /sentry-trace: a{32}-/,
  },
  // Invalid headers.
  "an invalid header is echoed": {
    fault: { app: "echoes" },
    expect: "invalid_headers_echo",
    words: /the response contains (canary|[0-9a-f]{16})/,
  },
  "a malformed trace id is continued": {
    fault: { app: "continues malformed" },
    expect: "invalid_headers_echo",
    words: /two sentry-traces in one|version ff/,
  },
  "an invalid header breaks the page": {
    fault: {
      response: (answer, seen) =>
        /script/.test(String(seen.headers["sentry-trace"])) && Object.assign(answer, { status: 500 }),
    },
    expect: "invalid_headers_page",
    words: /a malformed sentry-trace: 500/,
  },
  // Robots.
  "404 header removed": {
    fault: { response: ({ headers }) => delete headers["x-robots-tag"] },
    env: { ONLY: "notFound" },
    expect: "not_found_noindex",
    words: /X-Robots-Tag ""/,
  },
  "noindex on every response": {
    fault: header("x-robots-tag", "noindex"),
    expect: "indexable",
    words: /200 with X-Robots-Tag "noindex"/,
  },
  "X-Robots-Tag: none": { fault: header("x-robots-tag", "none"), expect: "indexable", words: /X-Robots-Tag "none"/ },
  "X-Robots-Tag: NOINDEX": {
    fault: header("x-robots-tag", "NOINDEX, NOFOLLOW"),
    expect: "indexable",
    words: /"NOINDEX, NOFOLLOW"/,
  },
  "meta robots noindex": {
    fault: page(
      (answer) => (answer.body = answer.body.replace("<head>", '<head><meta name="robots" content="noindex"/>')),
    ),
    expect: "indexable",
    words: /meta robots "noindex"/,
  },
  "soft 404": {
    fault: {
      response: (answer) =>
        answer.status === 404 && Object.assign(answer, { status: 200, headers: { "content-type": "text/html" } }),
    },
    expect: "not_found_status",
    words: /GET \/no-such-page-[0-9a-f]+.*200 text\/html/,
  },
  // Pages and their parts.
  "a page is cut after its head": {
    fault: page(
      (answer, { count }) =>
        count % 3 === 0 && (answer.body = answer.body.slice(0, answer.body.indexOf("</head>") + 7)),
    ),
    expect: "page_complete",
    words: /<\/html> is missing/,
  },
  "a page shows an application error with 200": {
    fault: page(
      (answer, { count }) =>
        count % 4 === 0 &&
        (answer.body = "<html><body>Application error: a server-side exception has occurred</body></html>"),
    ),
    expect: "page_complete",
    words: /an error page with status 200: .*Application error/,
  },
  "a page shows Next's error document with 200": {
    fault: page(
      (answer, { count }) => count % 4 === 0 && (answer.body = '<html id="__next_error__"><body></body></html>'),
    ),
    expect: "page_complete",
    words: /__next_error__/,
  },
  "a page is nearly empty": {
    fault: page((answer, { count }) => count > 1 && count % 3 === 0 && (answer.body = "<html><body>ok</body></html>")),
    expect: "page_complete",
    words: /28 characters .* before the run/,
  },
  "another page is shown": {
    fault: page(
      (answer, { count }) => count > 2 && (answer.body = answer.body.replace("Page /products", "Page /other")),
    ),
    env: { PAGES: "/,/products", EXPECT_TEXT: "/products=Page /products" },
    expect: "page_complete",
    words: /EXPECT_TEXT "Page \/products" is missing/,
  },
  "a page answers 500": {
    fault: at("/trace", (answer) => Object.assign(answer, { status: 500 })),
    env: { ONLY: "outgoing" },
    expect: "page_ok",
    words: /GET \/trace: 500/,
  },
  "a component payload is HTML": {
    fault: { response: (answer, { headers }) => headers.rsc && Object.assign(answer, LOGIN) },
    env: { ONLY: "browse" },
    expect: "navigation_ok",
    words: /_rsc=.*200 text\/html/,
  },
  "a component payload is empty": {
    fault: { response: (answer, { headers }) => headers.rsc && (answer.body = "") },
    env: { ONLY: "browse" },
    expect: "navigation_ok",
    words: /row 0 is missing in 0 characters/,
  },
  "a component payload is cut": {
    fault: { response: (answer, { headers }) => headers.rsc && (answer.body = answer.body.slice(0, -20)) },
    env: { ONLY: "browse" },
    expect: "navigation_ok",
    words: /row 0 is cut/,
  },
  "the action is answered with a login page": {
    fault: {
      response: (answer, { method, path }) =>
        method === "POST" && path === "/test-events" && Object.assign(answer, LOGIN),
    },
    expect: "action_ok",
    words: /expected "received trace [0-9a-f]{32}".*Please log in/,
  },
  "the action is turned into a GET": {
    fault: { request: (seen) => seen.path === "/test-events" && (seen.method = "GET") },
    expect: "action_ok",
    words: /expected "received trace [0-9a-f]{32}", got 200/,
  },
  "the action fails": {
    fault: {
      response: (answer, { method, path }) =>
        method === "POST" && path === "/test-events" && Object.assign(answer, { status: 500 }),
    },
    expect: "action_ok",
    words: /got 500/,
  },
  "the action's form is missing": {
    fault: at("/test-events", (answer) => (answer.body = answer.body.replace(/<form[\s\S]*<\/form>/, ""))),
    expect: "action_ok",
    words: /no form with a server action that contains "Call the upstream"/,
  },
  "redirect to the internal address": {
    fault: answers("/test-events/redirect", { headers: { location: "http://web:3000/trace" } }),
    expect: "redirect_ok",
    words: /Location "http:\/\/web:3000\/trace", expected a redirect within/,
  },
  "redirect to the wrong page": {
    fault: answers("/test-events/redirect", { headers: { location: "/" } }),
    expect: "redirect_ok",
    words: /Location "\/", expected \/trace/,
  },
  "a build file is missing": {
    fault: answers("/_next/static/chunks/app.js", { status: 404 }),
    expect: "asset_ok",
    words: /app\.js: \/ references it: 404/,
  },
  "a script is an HTML page": {
    fault: answers("/_next/static/chunks/app.js", LOGIN),
    expect: "asset_ok",
    words: /not a js file: 200 text\/html/,
  },
  "a style sheet is cut": {
    fault: at("/_next/static/chunks/app.css", (answer) => (answer.body = answer.body.slice(0, 8))),
    expect: "asset_ok",
    words: /cut: 8 characters/,
  },
  // The tunnel.
  "the tunnel throws every envelope away": {
    fault: { deliver: () => undefined },
    env: { ONLY: "envelopes,replay" },
    expect: "delivered",
    words: /event [0-9a-f]{32}: answered 200, did not arrive; missing: \d+ of \d+ envelopes/,
  },
  "the tunnel throws one envelope in ten away": {
    fault: { deliver: (raw, count) => (count % 10 === 0 ? undefined : raw) },
    env: { ONLY: "envelopes,replay" },
    expect: "delivered",
    words: /missing: \d+ of \d+ envelopes \(read from the recording ingest\)/,
  },
  "the tunnel cuts 40 % of an envelope": {
    fault: { deliver: cutEnvelope },
    env: { ONLY: "envelopes,replay" },
    expect: "unaltered",
    words: /sent \d+ bytes with digest [0-9a-f]{64}, \d+ bytes/,
  },
  "the tunnel answers with a login page": {
    fault: at(
      "/monitoring",
      (answer, { method }) => method === "POST" && answer.status === 200 && Object.assign(answer, LOGIN),
    ),
    expect: "tunnel_answer",
    words: /expected \{"id":"[0-9a-f]{32}"\}, got 200 text\/html.*Please log in/,
  },
  "the tunnel answers with another event's id": {
    fault: at("/monitoring", (answer) => answer.body && (answer.body = `{"id":"${"a".repeat(32)}"}`)),
    expect: "tunnel_answer",
    words: /expected \{"id":"[0-9a-f]{32}"\}, got .*a{32}/,
  },
  "the tunnel rejects envelopes": {
    fault: at("/monitoring", (answer) => answer.status === 200 && Object.assign(answer, { status: 400 })),
    expect: "tunnel_accepted",
    words: /(error|transaction|replay): 400/,
  },
  "the tunnel forwards a foreign project": {
    fault: { request: (seen) => (seen.path = seen.path.replace(/^(\/monitoring)\?.*/, "$1")) },
    expect: "tunnel_rejected",
    words: /a foreign (project|organisation).*: expected 403, got 200/,
  },
  "the tunnel accepts GET": {
    fault: at("/monitoring", (answer, { method }) => method === "GET" && Object.assign(answer, { status: 200 })),
    expect: "tunnel_rejected",
    words: /a GET: expected 405 or 403, got 200/,
  },
  "the tunnel rate-limits all but one envelope": {
    fault: at(
      "/monitoring",
      (answer, { count }) =>
        answer.status === 200 &&
        count > 1 &&
        Object.assign(answer, { status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } }),
    ),
    expect: "tunnel_within_limits",
    words: /429/,
  },
  "a rate limit silences every category": {
    fault: at(
      "/monitoring",
      (answer, { count }) => answer.status === 200 && count % 7 === 0 && Object.assign(answer, { status: 429 }),
    ),
    env: { ONLY: "envelopes,replay" },
    expect: "tunnel_retryable",
    words: /429/,
  },
  "envelopes delay pages": {
    fault: { delay: (seen, { lastEnvelope }) => (isPage(seen) && Date.now() - lastEnvelope < 300 ? 200 : 0) },
    profile: "average",
    env: { JOURNEYS: "browse:60,envelopes:40", LIMITS: '{"/":{"p95":150}}' },
    expect: "row /",
    words: /✗ \/ .*p95 150/,
  },
  // Availability and speed.
  "the ingest is down": {
    fault: answers("/monitoring", { status: 502 }),
    env: { ONLY: "envelopes,replay" },
    expect: "availability",
    words: /envelope .* %.*POST \/monitoring: status 502/s,
  },
  "a page answers 503 one time in two": {
    fault: page(
      (answer, { path, count }) => path === "/trace" && count % 2 === 0 && Object.assign(answer, { status: 503 }),
    ),
    env: { ONLY: "outgoing" },
    expect: "availability",
    words: /GET \/trace: status 503/,
  },
  "the app's own call times out": {
    fault: at(
      "/trace",
      (answer) =>
        (answer.body = answer.body.replace(/<dl>[\s\S]*<\/dl>/, "Unknown: The operation was aborted due to timeout.")),
    ),
    env: { ONLY: "outgoing" },
    expect: "availability",
    words: /upstream .* %.*GET \/trace: the app's own call was not answered/s,
  },
  "a page times out": {
    fault: { delay: ({ path, count }) => (path === "/trace" && count > 1 ? 1700 : 0) },
    env: { TIMEOUT: "1s", ONLY: "outgoing,browse" },
    expect: "availability",
    words: /GET \/trace: timed out/,
  },
  "every page takes 600 ms": {
    fault: { delay: (seen) => (isPage(seen) ? 600 : 0) },
    profile: "average",
    env: { ONLY: "browse" },
    expect: "row /",
    words: /✗ \/ .*p95 500, p99 2000/,
  },
  "one page of PAGES is slow": {
    fault: { delay: ({ path, headers }) => (path === "/products" && !headers.rsc ? 600 : 0) },
    profile: "average",
    env: { PAGES: "/,/products", ONLY: "browse" },
    expect: "row /products",
    words: /✗ \/products/,
  },
  "one page in twenty is three seconds late": {
    fault: { delay: (seen) => (seen.path === "/" && !seen.headers.rsc && seen.count % 20 === 5 ? 3000 : 0) },
    profile: "average",
    rounds: 20,
    env: { ONLY: "browse" },
    expect: "row /",
    words: /✗ \/ /,
  },
  "component payloads are slow": {
    fault: { delay: ({ headers }) => (headers.rsc ? 600 : 0) },
    profile: "average",
    env: { ONLY: "browse" },
    expect: "row navigation",
    words: /✗ navigation/,
  },
  "actions are slow": {
    fault: { delay: ({ method, path }) => (method === "POST" && path === "/test-events" ? 1100 : 0) },
    profile: "average",
    env: { ONLY: "action" },
    expect: "row action",
    words: /✗ action/,
  },
  "files are slow": {
    fault: { delay: ({ path }) => (path.startsWith("/_next") ? 300 : 0) },
    profile: "average",
    env: { ONLY: "assets" },
    expect: "row file",
    words: /✗ file/,
  },
};
