import type { CheckId } from "../lib/checks.ts";
import { type Answer, escapeHtml, type Fault, type Seen } from "./stub.ts";

/** A fault: its name, how the target is faulty, and words of the example that names it. */
export type Planted = [name: string, fault: Fault, words: RegExp, how?: How];
export interface How {
  /** Default: smoke. */
  profile?: string;
  env?: Record<string, string>;
  /** Iterations of each journey with the shim. */
  rounds?: number;
}
/** What must name a fault: a check, or a part of the result. */
export type NamedBy = CheckId | "availability" | "incomplete" | `row ${string}`;

export type Change = (answer: Answer, seen: Seen) => unknown;
/** Changes of an answer: its fields, its headers, its body. */
export function set(fields: Partial<Answer>): Change {
  return (answer) => Object.assign(answer, fields);
}
export function add(name: string, value: string): Change {
  return ({ headers }) => Object.assign(headers, { [name]: value });
}
export function edit(from: string | RegExp, to: string | ((seen: Seen) => string)): Change {
  return (answer, seen) => (answer.body = answer.body.replace(from, typeof to === "string" ? to : to(seen)));
}
export const show = (body: string) => set({ body });
/** Applies a change to every nth answer for a path. */
export function every(n: number, change: Change): Change {
  return (answer, seen) => seen.count % n === 0 && change(answer, seen);
}

/** Where a change applies. */
export const on = (applies: (seen: Seen, answer: Answer) => unknown, change: Change): Fault => ({
  response: (answer, seen) => applies(seen, answer) && change(answer, seen),
});
export const isPage = ({ path, method }: Seen) =>
  /^\/(?:products|trace|test-events)?(?:\?|$)/.test(path) && method === "GET";
export const page = (change: Change) => on((seen, { body }) => isPage(seen) && body.includes("<html"), change);
export const notFound = (change: Change) => on((_, { status }) => status === 404, change);
export const at = (path: string, change: Change) => on((seen) => seen.path.startsWith(path), change);
export const header = (name: string, value: string) => page(add(name, value));
/** Changes a header that the target receives; undefined removes it. */
export const receives = (name: string, to: (value: string) => string | undefined): Fault => ({
  request: ({ headers }) => headers[name] && (headers[name] = to(`${headers[name]}`)),
});
const drops = (name: string) => receives(name, () => undefined);
export const payload = (change: Change) => on(({ headers }) => headers.rsc, change);
const isAction = ({ method, path }: Seen) => method === "POST" && path === "/test-events";
export const action = (change: Change) => on(isAction, change);
export const accepted = (change: Change) =>
  on(({ path }, { status }) => path === "/monitoring" && status === 200, change);
const slow = (milliseconds: number, applies: (seen: Seen) => unknown): Fault => ({
  delay: (seen) => (applies(seen) ? milliseconds : 0),
});

const HTML = { "content-type": "text/html" };
export const LOGIN = set({ status: 200, headers: HTML, body: "<html><body>Please log in</body></html>" });
export const [JS, CSS] = ["/_next/static/chunks/app.js", "/_next/static/chunks/app.css"];
export const REDIRECT = "/test-events/redirect";
const FOREIGN = `${"b".repeat(32)}-${"c".repeat(16)}-1`;
const LIMITED = set({ status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } });
const INTERNAL = "http://web:3000/trace";

export const average = (env: Record<string, string>, rounds = 3): How => ({ profile: "average", env, rounds });
export const only = (JOURNEYS: string): How => ({ env: { JOURNEYS } });
const [_browse, missing, outgoing, tunnel] = ["browse", "notFound", "outgoing", "envelopes,replay"].map(only);
const [browsing, twoPages] = ["/", "/,/products"].map((PAGES) => average({ JOURNEYS: "browse", PAGES }));

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
/** A request without a trace within 5 ms of another gets the other's page. */
function mixUp(): Change {
  let before = { at: 0, body: "" };
  return (answer, { headers }) => {
    if (headers["sentry-trace"]) return;
    if (Date.now() - before.at > 5) before = { at: Date.now(), body: answer.body };
    answer.body = before.body;
  };
}
/** Every answer for a path is the first one. */
function cache(key = ({ path }: Seen) => path): Change {
  const first: Record<string, string> = {};
  return (answer, seen) => (answer.body = first[key(seen)] ??= answer.body);
}
const sentSpan = ({ headers }: Seen) => `${headers["sentry-trace"] ?? FOREIGN}`.slice(33, 49);
const reuseSpan = edit(/(?<=sentry-trace" content="\w{32}-)\w{16}/, sentSpan);
const unsample = edit(/(?<=sentry-trace" content="\w+-\w+-)1/, "0");
const copyTrace: Change = (answer, seen) =>
  add("set-cookie", `t=${/sentry-trace" content="(\w{32})/.exec(answer.body)?.[1]}`)(answer, seen);
const echo = edit("</body>", ({ headers }) => `${escapeHtml(JSON.stringify(headers))}</body>`);
/** Half of one answer of each kind, then nothing. */
function stall(): Fault {
  const stalled = new Set<string>();
  const kindOf = ({ path, headers, method }: Seen) =>
    method === "POST" ? "action" : headers.rsc ? "navigation" : isPage({ path, method } as Seen) ? "page" : path;
  return on(
    (seen) =>
      seen.count > 3 &&
      !/^\/(monitoring|no-such|api\/no)|redirect|robots/.test(seen.path) &&
      !stalled.has(kindOf(seen)),
    (answer, seen) => {
      stalled.add(kindOf(seen));
      answer.cut = "stalls";
    },
  );
}
const STALLED = /echo .*file .*action .*navigation .*GET \/: timed out/s;
/** The documented tunnel: it reads the first line of the text, and forwards the rest. */
const documented = on(({ headers }) => headers["content-encoding"], set({ status: 500 }));
const flag = receives("traceparent", (value) => `${value.slice(0, -2)}99`);
const second = receives("sentry-trace", (value) => `${value}, ${FOREIGN}`);
const lenient = receives("sentry-trace", (value) => value.replace(/,.*/, ""));
const resample = edit("sample_rate=0.5", "sample_rate=1");
const retrace = edit(/<dd>00-\w+/, `<dd>00-${"a".repeat(32)}`);
const revend = edit(/vendor=/g, "vendor=x");
const noindex = edit("<head>", '<head><meta name="robots" content="noindex"/>');
const breaks = on(({ headers }) => /script/.test(`${headers["sentry-trace"]}`), set({ status: 500 }));
const get: Fault = { request: (seen) => isAction(seen) && Object.assign(seen, { method: "GET" }) };
const relay: Fault = {
  request: (seen) => Object.assign(seen, { path: seen.path.replace(/^(\/monitoring)\?.*/, "$1") }),
};
const acceptsGet = on(({ path, method }) => path === "/monitoring" && method === "GET", set({ status: 200 }));
const cut = (raw: Buffer) => raw.subarray(0, raw.indexOf(10) + 1 + Math.floor((raw.length - raw.indexOf(10)) * 0.6));
const lose = (one: number): Fault => ({ deliver: (raw, n) => (n % one ? [{ raw }] : []) });
const noApi = at("/trace", edit(/<dl>[\s\S]*<\/dl>/, "The operation was aborted due to timeout."));
const noResult = action(edit(/received trace [^<]*<!-- -->[^<]*/, "API does not answer"));
const expectText = { env: { PAGES: "/,/products", EXPECT_TEXT: "/products=Page /products" } };
const busy: Fault = { delay: (seen, { lastEnvelope }) => (isPage(seen) && Date.now() - lastEnvelope < 300 ? 200 : 0) };
const busyLimit = average({ JOURNEYS: "browse:60,envelopes:40", LIMITS: '{"/":{"p95":150}}' });
const isSlowPage = ({ path, headers }: Seen) => path === "/products" && !headers.rsc;
const isLaterTrace = ({ path, count }: Seen) => path === "/trace" && count > 1;
const timeout = { env: { TIMEOUT: "1s", JOURNEYS: "outgoing,browse" } };
const isOneInTwenty = ({ path, headers, count }: Seen) => path === "/" && !headers.rsc && count % 20 === 5;
const isFile = ({ path }: Seen) => path.startsWith("/_next");

/** Every fault that the suite must detect, by what must name it. */
export type Faults = { [by in NamedBy]?: Planted[] };

export const FAULTS: Faults = {
  forwarded: [
    ["proxy drops baggage", drops("baggage"), /baggage sent as .*did not arrive/],
    ["proxy rewrites traceparent", flag, /traceparent sent as "00-.*-0[01]", arrived as "00-.*-99"/],
    ["proxy adds a second sentry-trace", second, /sentry-trace sent as .*, arrived as "\w+-\w+-[01], b{32}/],
  ],
  continued_trace: [
    ["proxy drops sentry-trace", drops("sentry-trace"), /sent trace 10ad7e5710ad\w{20}, the page/],
    // With k6, the other client may be another journey's, not one of the ten requests.
    ["two clients' pages are swapped", swap(), /is in trace 10ad7e5710ad[0-9a-f]{20}/, only("concurrent,continued")],
  ],
  continued_sampled: [["sampling is off", page(unsample), /sent sampled true, .* \[trace 10ad7e5710ad/]],
  continued_baggage: [["sampling rate rewritten", page(resample), /sample_rate was "0.5", is "1"/]],
  continued_span: [["the caller's span id is reused", page(reuseSpan), /sent span (\w{16}), the page has span \1/]],
  outgoing_trace: [["upstream call without a trace", page(edit(/<dl>.*<\/dl>/s, "")), /sent 10ad7e5710ad/]],
  outgoing_traceparent: [["traceparent of another trace", page(retrace), /the page shows: Outgoing/]],
  outgoing_vendor: [["a third party's baggage is changed", page(revend), /the API received ".*vendor=/]],
  fresh_unique: [
    ["a page is cached with its trace", page(cache()), /trace \w{32} (existed before the run|was (given|sent))/],
    ["the 404 page is cached with its trace", notFound(cache(() => "")), /was given to another client/, missing],
    ["clients are mixed up", page(mixUp()), /trace \w{32} (was given to another client|existed before)/],
  ],
  not_shared: [["public page with a trace", header("cache-control", "public"), /Cache-Control "public"/]],
  no_trace_cookie: [["the trace id is copied into a cookie", page(copyTrace), /Set-Cookie: t=[0-9a-f]{32}/]],
  no_trace_headers: [["responses carry a trace", header("sentry-trace", FOREIGN), /sentry-trace: b{32}-/]],
  invalid_headers_echo: [
    ["an invalid header is echoed", page(echo), /the response contains (canary|[0-9a-f]{16})/],
    ["a malformed trace id is continued", lenient, /two sentry-traces in one|version ff/],
  ],
  invalid_headers_page: [["an invalid header breaks the page", breaks, /a malformed sentry-trace: 500/]],
  not_found_noindex: [["404 header removed", notFound(set({ headers: HTML })), /X-Robots-Tag ""/]],
  indexable: [
    ["noindex on every response", header("x-robots-tag", "noindex"), /200 with X-Robots-Tag "noindex"/],
    ["meta googlebot noindex", page(edit("<head>", '<head><meta name="googlebot" content="noindex">')), /"noindex"/],
    ["meta robots noindex", page(noindex), /meta robots "noindex"/],
  ],
  not_found_status: [["soft 404", notFound(set({ status: 200 })), /GET \/no-such-page-\w+: .*200 text\/html/]],
  page_ok: [["a page answers 500", at("/trace", set({ status: 500 })), /GET \/trace: 500/, outgoing]],
  page_complete: [
    ["a page is cut after its head", page(every(3, edit(/(?<=<\/head>).*/s, ""))), /<\/html> is missing/],
    ["Next's error document", page(every(4, show('<html id="__next_error__"></html>'))), /__next_error__/],
    ["another page", page(every(3, edit("Page /prod", ""))), /EXPECT_TEXT "Page \/products" is missing/, expectText],
  ],
  navigation_ok: [
    ["a component payload is HTML", payload(LOGIN), /_rsc=.*200 text\/html/],
    ["a component payload is cut", payload(edit(/.{20}\n$/, "")), /row 0 is cut/],
  ],
  action_ok: [
    ["the action gets a login page", action(LOGIN), /expected "received trace \w{32}".*Please log in/],
    ["the action is turned into a GET", get, /expected "received trace \w{32}", got 200/],
    ["the form is missing", page(edit(/<form.*<\/form>/s, "")), /no form with a .* that contains "Call the upstream"/],
  ],
  redirect_ok: [
    ["redirect to an internal address", at(REDIRECT, add("location", INTERNAL)), /expected a redirect within/],
    ["redirect to the wrong page", at(REDIRECT, add("location", "/")), /Location "\/", .*expected \/trace/],
  ],
  asset_ok: [
    ["a script is an HTML page", at(JS, LOGIN), /not a js file: 200 text\/html/],
    ["a style sheet is cut", at(CSS, show("body{col")), /cut: 8 characters/],
  ],
  delivered: [["every envelope is lost", lose(1), /event \w{32}: .*did not arrive; \d+ of \d+/]],
  unaltered: [["40 % are cut", { deliver: (raw) => [{ raw: cut(raw) }] }, /sent \d+ bytes with digest \w{64}/, tunnel]],
  tunnel_answer: [
    ["the tunnel answers with a login page", accepted(LOGIN), /expected \{"id":"\w{32}"\}, got 200.*Please log in/],
  ],
  tunnel_accepted: [["envelopes are rejected", accepted(set({ status: 400 })), /(error|transaction|replay): 400/]],
  tunnel_compressed: [["compressed envelopes are not read", documented, /compressed transaction: 500/]],
  tunnel_rejected: [
    ["a foreign project is forwarded", relay, /a foreign (project|organisation).*: .* got 200/],
    ["the tunnel accepts GET", acceptsGet, /a GET: expected a status like 403, got 200/],
  ],
  tunnel_within_limits: [["one in two is rate-limited", accepted(every(2, LIMITED)), /429/]],
  tunnel_retryable: [["a bare 429", accepted(every(7, set({ status: 429 }))), /429/]],
  availability: [
    ["the ingest is down", at("/monitoring", set({ status: 502 })), /envelope .* %.*\/monitoring: status 502/s, tunnel],
    ["one page in two is a 503", at("/trace", every(2, set({ status: 503 }))), /GET \/trace: status 503/, outgoing],
    ["half of an answer, then nothing", stall(), STALLED, { env: { TIMEOUT: "1s", JOURNEYS: "" } }],
    ["a compressed page is cut", page(every(3, set({ cut: "closes" }))), /GET \/: .*(closed|EOF)/, only("browse")],
    ["a page times out", slow(1700, isLaterTrace), /GET \/trace: timed out/, timeout],
  ],
  incomplete: [
    ["the app's own call times out", noApi, /the app's own call .*outgoing: .*not measured/s, outgoing],
    ["the action's own call times out", noResult, /the app's own call .*action: .*not measured/s, only("action")],
  ],
  "row /": [
    ["envelopes delay pages", busy, /✗ \/ .*p95 150/, busyLimit],
    ["every page takes 600 ms", slow(600, isPage), /✗ \/ .*p95 500, p99 2000/, browsing],
    ["one page in twenty is late", slow(3000, isOneInTwenty), /✗ \/ /, average({ JOURNEYS: "browse" }, 20)],
  ],
  "row /products": [["one page is slow", slow(600, isSlowPage), /✗ \/prod/, twoPages]],
  "row navigation": [["payloads are slow", slow(600, ({ headers }) => headers.rsc), /✗ navigation/, browsing]],
  "row action": [["actions are slow", slow(1100, isAction), /✗ action/, average({ JOURNEYS: "action" })]],
  "row file": [["files are slow", slow(300, isFile), /✗ file/, average({ JOURNEYS: "assets" })]],
};
