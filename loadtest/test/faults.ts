import type { CheckId } from "../lib/checks.ts";
import { hasK6 } from "./run-suite.ts";
import { type Answer, asExample, asHeader, escapeHtml, type Fault, type Seen } from "./stub.ts";

/** A fault: its name, how the target is faulty, and words of the example that names it. */
export type Planted = [name: string, fault: Fault, words: RegExp, how?: How];
export interface How {
  /** Default: smoke. */
  profile?: string;
  env?: Record<string, string>;
  /** How often each journey runs with the shim. */
  rounds?: number;
}
type NamedBy = CheckId | "availability" | "incomplete" | `row ${string}`;

type Change = (answer: Answer, seen: Seen) => unknown;
function set(fields: Partial<Answer>): Change {
  return (answer) => Object.assign(answer, fields);
}
function add(name: string, value: string): Change {
  return ({ headers }) => Object.assign(headers, { [name]: value });
}
export function edit(from: string | RegExp, to: string | ((seen: Seen) => string)): Change {
  return (answer, seen) => (answer.body = answer.body.replace(from, typeof to === "string" ? to : to(seen)));
}
const show = (body: string) => set({ body });
function every(n: number, change: Change): Change {
  return (answer, seen) => seen.count % n === 0 && change(answer, seen);
}

const on = (applies: (seen: Seen, answer: Answer) => unknown, change: Change): Fault => ({
  response: (answer, seen) => applies(seen, answer) && change(answer, seen),
});
const isPage = ({ path, method }: Seen) => /^\/(?:products|trace|test-events)?(?:\?|$)/.test(path) && method === "GET";
const page = (change: Change) => on((seen, { body }) => isPage(seen) && body.includes("<html"), change);
const notFound = (change: Change) => on((_, { status }) => status === 404, change);
const at = (path: string, change: Change) => on((seen) => seen.path.startsWith(path), change);
const header = (name: string, value: string) => page(add(name, value));
/** Changes a header that the target receives; undefined removes it. */
const receives = (name: string, to: (value: string) => string | undefined): Fault => ({
  request: ({ headers }) => headers[name] && (headers[name] = to(`${headers[name]}`)),
});
const drops = (name: string) => receives(name, () => undefined);
const payload = (change: Change) => on(({ headers }) => headers.rsc, change);
const isAction = ({ method, path }: Seen) => method === "POST" && path === "/test-events";
const action = (change: Change) => on(isAction, change);
const accepted = (change: Change) => on(({ path }, { status }) => path === "/monitoring" && status === 200, change);
const slow = (milliseconds: number, applies: (seen: Seen) => unknown): Fault => ({
  delay: (seen) => (applies(seen) ? milliseconds : 0),
});

const HTML = { "content-type": "text/html" };
const LOGIN = set({ status: 200, headers: HTML, body: "<html><body>Please log in</body></html>" });
const [JS, CSS] = ["/_next/static/chunks/app.js", "/_next/static/chunks/app.css"];
const REDIRECT = "/test-events/redirect";
const FOREIGN = `${"b".repeat(32)}-${"c".repeat(16)}-1`;
const LIMITED = set({ status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } });
const INTERNAL = "http://web:3000/trace";

const average = (env: Record<string, string>, rounds?: number): How => ({
  profile: "average",
  env: { TIMEOUT: "2m", ...env },
  rounds,
});
const only = (JOURNEYS: string): How => ({ env: { JOURNEYS } });
const [browse, missing, outgoing, tunnel] = ["browse", "notFound", "outgoing", "envelopes,replay"].map(only);
const twoPages = average({ JOURNEYS: "browse", PAGES: "/,/products" });

function swap(): Fault {
  let before: string | undefined;
  return {
    request: (seen) => {
      const trace = seen.headers["sentry-trace"];
      if (seen.path !== "/" || seen.method !== "GET" || !trace) return;
      if (seen.count % 40 > 28 && before) seen.headers["sentry-trace"] = before;
      before = String(trace);
    },
  };
}
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
const stall = on(({ path, count }) => count === { "/": 3, [JS]: 1 }[path], set({ cut: "stalls" }));
const stalled = { env: { TIMEOUT: "1s", JOURNEYS: "assets" } };
/** The documented tunnel: it reads the first line of the text, and forwards the rest. */
export const documented = on(({ headers }) => headers["content-encoding"], set({ status: 500 }));
const lenient = receives("sentry-trace", (value) => value.replace(/,.*/, ""));
const resample = edit("sample_rate=0.5", "sample_rate=1");
const retrace = edit(/<dd>00-\w+/, `<dd>00-${"a".repeat(32)}`);
const noindex = (name: string) => edit("<head>", `<head><meta name="${name}" content="noindex">`);
const revend = edit(/vendor=/g, "vendor=x");
const breaks = on(({ headers }) => /script/.test(`${headers["sentry-trace"]}`), set({ status: 500 }));
const relay: Fault = {
  request: (seen) => Object.assign(seen, { path: seen.path.replace(/^(\/monitoring)\?.*/, "$1") }),
};
const acceptsGet = on(({ path, method }) => path === "/monitoring" && method === "GET", set({ status: 200 }));
const noApi = at("/trace", edit(/<dl>[\s\S]*<\/dl>/, "The operation was aborted due to timeout."));
const noResult = action(edit(/received trace [^<]*<!-- -->[^<]*/, "API does not answer"));
const isSlowPage = ({ path, headers }: Seen) => path === "/products" && !headers.rsc;
const isLaterTrace = ({ path, count }: Seen) => path === "/trace" && count > 1;
const timeout = { env: { TIMEOUT: "1s", JOURNEYS: "outgoing,browse" } };
const isOneInTwenty = ({ path, headers, count }: Seen) => path === "/" && !headers.rsc && count % 20 === 5;

const retime: Change = ({ headers }) =>
  (headers["server-timing"] = `${headers["server-timing"]}`.replace("production", "test"));
const packaged = (change: Change): Fault => ({
  response: (answer, seen) => {
    asExample(answer, seen);
    if (isPage(seen)) change(answer, seen);
  },
});
/** An app whose pages have their trace in Server-Timing alone, with a change. */
const timed = (change: Change): Fault =>
  page((answer, seen) => {
    asHeader(answer);
    change(answer, seen);
  });
function storeTiming(): Change {
  const first: Record<string, string> = {};
  return ({ headers }, { path }) => (headers["server-timing"] = first[path] ??= headers["server-timing"] ?? "");
}
const TIMING = `sentry-trace;desc="${FOREIGN}"`;
function without(name: string): Change {
  return ({ headers }) => delete headers[name];
}
const SESSION = `session=${"a".repeat(32)}`;
const BROKEN = add("content-encoding", "gzip");
const UNREADABLE = /a body that cannot be decompressed/;
export const metas = edit(/<meta name="(sentry-trace|baggage)"[^>]*>/g, "");
const given = (name: string, value: string): How => ({ env: { [name]: value } });
const [POLICY, OPEN] = ["content-security-policy", "default-src * 'unsafe-inline' 'unsafe-eval'"];
const onePage: How = { env: { EXPECT_HEADERS: `/test-events:${POLICY}~nonce-`, JOURNEYS: "action" } };
const COMPRESSED = given("EXPECT_HEADERS", "content-encoding");
const refuses = (bytes: number): Fault =>
  on(({ path, body }) => path === "/monitoring" && body.length > bytes, set({ status: 413 }));
const [DSN, REAL, TRACE_ID] = ["SENTRY_DSN", "https://culvert@o1.ingest.sentry.io/1", "sentry-trace_id="];
const sharedCookie = page((answer, seen) => {
  for (const change of [metas, add("set-cookie", "a=1"), add("cache-control", "public")]) change(answer, seen);
});
const expires: Change = ({ headers }) => {
  delete headers["cache-control"];
  headers.expires = "Fri, 01 Jan 2999 00:00:00 GMT";
};
const unsampled = page((answer, seen) => {
  edit("sampled=true", "sampled=false")(answer, seen);
  unsample(answer, seen);
});
const products = { env: { JOURNEYS: "browse", PAGES: "/,/products", EXPECT_TEXT: "/products=Page /products" } };
const NO_TEXT = /EXPECT_TEXT "Page \/products" is missing/;
const otherHalf = page(every(2, edit("=production", "=x")));
const oneNonce: Change = (answer) => {
  const [, nonce = ""] = /nonce-(\w+)/.exec(answer.headers["content-security-policy"] ?? "") ?? [];
  for (const [name, value] of Object.entries(answer.headers)) answer.headers[name] = value.replace(nonce, "0123");
  answer.body = answer.body.replaceAll(nonce, "0123");
};
const oneSpan = page(edit(/(?<=sentry-trace" content="\w{32}-)\w{16}/, "f".repeat(16)));
const moved = (to: Fault["deliver"]): Fault => ({ deliver: to });
const reheaded = (from: RegExp, to: string) =>
  moved((raw) => [{ raw: Buffer.from(raw.toString("latin1").replace(from, to), "latin1") }]);
/** Something piles up: pages at the end of a run are late. */
const slower: Fault = {
  delay: ({ path, headers, count }) => (path === "/" && !headers.rsc && count > (hasK6 ? 120 : 10) ? 1000 : 0),
};
const late = average({ JOURNEYS: "envelopes", LIMITS: '{"delivery":{"p95":400}}', DELIVERY_WAIT: "20s" });
const closing: Fault = { response: ({ headers }) => (headers.connection = "close") };
const isNested = ({ path }: { path: string }) => path.startsWith("/no-such/");
const query = (name: string, change: Change) => on(({ path }) => path.includes(name), change);
const callBaggage = edit(/(?<=<dt>baggage<\/dt><dd>)[^<]*/, "other=1");

export const FAULTS: { [by in NamedBy]?: Planted[] } = {
  forwarded: [
    ["proxy drops baggage", drops("baggage"), /baggage sent as .*did not arrive/],
    ["no cookie reaches the app", at("/api/echo", edit(/"cookie":"[^"]*"/, '"cookie":null')), /cookie .*did not/],
    ["proxy changes the cookie", receives("cookie", () => "other=1"), /sent as "loadtest=.*", arrived as "other=1"/],
    ["the echo cannot be decompressed", at("/api/echo", BROKEN), UNREADABLE],
  ],
  continued_trace: [
    ["proxy drops sentry-trace", drops("sentry-trace"), /sent trace 10ad7e5710ad\w{20}, the page/],
    // With k6, the other client may be another journey's, not one of the ten requests.
    ["two clients' pages are swapped", swap(), /is in trace 10ad7e5710ad[0-9a-f]{20}/, only("concurrent,continued")],
  ],
  continued_sampled: [["sampling is off", page(unsample), /sent sampled true, .* \[trace 10ad7e5710ad/]],
  continued_baggage: [["sampling rate rewritten", page(resample), /sample_rate was "0.5", is "1"/]],
  continued_span: [
    ["the caller's span id is reused", page(reuseSpan), /sent span (\w{16}), the page has span \1/],
    ["one span id on all continued pages", oneSpan, /which no other page may have/],
  ],
  outgoing_trace: [["upstream call without a trace", page(edit(/<dl>.*<\/dl>/s, "")), /sent 10ad7e5710ad/]],
  outgoing_traceparent: [["traceparent of another trace", page(retrace), /the page shows: Outgoing/]],
  outgoing_vendor: [["a third party's baggage is changed", page(revend), /the API received ".*vendor=/]],
  fresh_unique: [
    ["a page is cached with its trace", page(cache()), /trace \w{32} (existed before the run|was (given|sent))/],
    ["the 404 page is cached with its trace", notFound(cache(() => "")), /was given to another client/, missing],
    ["one span id on all pages", oneSpan, /span f{16} was on another page/],
    [
      "a shared cache stores Server-Timing",
      timed(storeTiming()),
      /trace \w{32} (existed before|was given|was sent)/,
      browse,
    ],
  ],
  no_trace_cookie: [["the trace id is copied into a cookie", page(copyTrace), /Set-Cookie: t=[0-9a-f]{32}/]],
  no_trace_headers: [
    ["responses carry a trace", header("sentry-trace", FOREIGN), /sentry-trace: b{32}-/],
    [
      "a component payload carries a trace",
      payload(add("server-timing", TIMING)),
      /x-component with .*sentry-trace;desc/,
      browse,
    ],
  ],
  invalid_headers_echo: [
    ["an invalid header is echoed", page(echo), /the response contains (canary|[0-9a-f]{16})/],
    ["a malformed trace id is continued", lenient, /two sentry-traces in one|version ff/],
  ],
  invalid_headers_page: [["an invalid header breaks the page", breaks, /a malformed sentry-trace: 500/]],
  not_found_noindex: [
    ["404 header removed", notFound(set({ headers: HTML })), /X-Robots-Tag ""/],
    ["404 without the meta", notFound(without("x-robots-tag")), /meta robots ""/, { env: { NOINDEX: "meta" } }],
  ],
  indexable: [
    ["noindex on every response", header("x-robots-tag", "noindex"), /200 with X-Robots-Tag "noindex"/],
    ["meta robots noindex", page(noindex("robots")), /meta robots "noindex"/],
    ["meta googlebot noindex", page(noindex("googlebot")), /meta robots "noindex"/],
  ],
  not_found_status: [
    ["soft 404", notFound(set({ status: 200 })), /GET \/no-such-page-\w+: .*200 text\/html/],
    ["a link to a missing page is a 200", on(({ headers }) => headers.rsc, set({ status: 200 })), /_rsc=.*: 200/],
    ["a missing page below a page is a 200", on(isNested, set({ status: 200 })), /GET \/no-such\/.*: 200/],
    ["a missing file is a page", on(({ path }) => /chunks\/\w{12}/.test(path), set({ status: 200 })), /\.js: 200/],
    ["a missing API route is a page", at("/api/no-such", LOGIN), /api\/no-such-\w+: 200/],
  ],
  page_complete: [
    ["a page is cut after its head", page(every(3, edit(/(?<=<\/head>).*/s, ""))), /<\/html> is missing/],
    ["Next's error document", page(every(3, show('<html id="__next_error__"></html>'))), /__next_error__/],
    ["the text in a comment", page(edit("<h1>Page /products</h1>", "<!--Page /products-->")), NO_TEXT, products],
  ],
  navigation_ok: [
    ["a component payload is HTML", payload(LOGIN), /_rsc=.*200 text\/html/],
    ["a component payload is cut", payload(edit(/.{20}\n$/, "")), /row 0 is cut/],
    ["another page's payload", payload(edit("Page /products", "Page /")), /the payload of another page/, products],
    ["navigations are not sampled", payload(edit(/(?<="trace":"\w+-\w+-)1/, "0")), /was sampled -1, its call -0/],
    ["navigations lose the trace", payload(edit(/"trace":"[^"]*"/, '"trace":""')), /it is not in trace \w{32}/],
    ["a component payload ends in a text", payload(show("2:T7f,cut")), /row 2 is cut/],
    ["a component payload without content", payload(show("0:null\n")), /row 0 is not a page/],
  ],
  action_ok: [
    ["the form is missing", page(edit(/<form.*<\/form>/s, "")), /no form with a .* that contains "Call the upstream"/],
    ["another result", action(edit(/trace <!-- -->\w+/, "trace 0")), /expected "received trace \w{32}"/],
  ],
  redirect_ok: [
    ["redirect to an internal address", at(REDIRECT, add("location", INTERNAL)), /expected a redirect within/],
    ["redirect to the wrong page", at(REDIRECT, add("location", "/")), /Location "\/", .*expected \/trace/],
    ["the redirect is permanent", at(REDIRECT, set({ status: 301 })), /301 .*expected a temporary one/],
    ["the redirect is cached", at(REDIRECT, add("cache-control", "max-age=31536000")), /expected no caching/],
    ["another status", at(REDIRECT, set({ status: 302 })), /expected status 307/, given("REDIRECT_STATUS", "307")],
    ["a query breaks the redirect", query("from=", set({ status: 500 })), /\?from=.*: 500/],
    ["its page is missing", at("/trace", set({ status: 404 })), /redirects here: 404/, given("TRACE_PAGE", "off")],
  ],
  asset_ok: [
    ["a script is an HTML page", at(JS, LOGIN), /not a js file: 200 text\/html/],
    ["a style sheet is cut", at(CSS, show("body{col")), /cut: 8 characters/],
    ["files of another build", at(JS, every(2, edit("self.x", "self.y"))), /it has changed: 33 characters/],
    ["a style sheet is a 403", at(CSS, set({ status: 403 })), /app\.css: \/ references it: 403/],
  ],
  tunnel_answer: [
    ["the tunnel answers with a login page", accepted(LOGIN), /expected \{"id":"\w{32}"\}, got 200.*Please log in/],
  ],
  tunnel_accepted: [
    // Nginx' default.
    ["more than 1 MB is refused", refuses(1_000_000), /replay: 413/],
    ["more than 10 MB is refused", refuses(10_000_000), /largest: 413/, average({ JOURNEYS: "replay" })],
  ],
  tunnel_compressed: [["compressed envelopes are not read", documented, /compressed transaction: 500/]],
  tunnel_rejected: [
    ["a foreign project is forwarded", relay, /a foreign (project|organisation).*: .* got 200/],
    ["the tunnel accepts GET", acceptsGet, /a GET: expected a status like 403, got 200/],
    ["a foreign organisation is accepted", query("o=4040404", set({ status: 200 })), /a foreign organisation/],
    ["an invalid project breaks the tunnel", query("p=..", set({ status: 500 })), /an invalid project: .*500/],
  ],
  tunnel_within_limits: [
    ["one in two is rate-limited", accepted(every(2, LIMITED)), /429/],
    ["envelopes silence the browser", accepted(add("x-sentry-rate-limits", "3600::key")), /200 .*-Limits: 3600/],
  ],
  tunnel_retryable: [["a bare 429", accepted(every(7, set({ status: 429 }))), /429/]],
  availability: [
    ["the ingest is down", at("/monitoring", set({ status: 502 })), /envelope .* %.*\/monitoring: status 502/s, tunnel],
    ["half of an answer, then nothing", stall, /file .*GET \/: timed out/s, stalled],
    ["a compressed page is cut", page(every(3, set({ cut: "closes" }))), /GET \/: .*(closed|EOF)/, browse],
    ["a page times out", slow(1700, isLaterTrace), /GET \/trace: timed out/, timeout],
  ],
  incomplete: [
    ["the app's own call times out", noApi, /the app's own call .*outgoing: .*not measured/s, outgoing],
    ["the action's own call times out", noResult, /the app's own call .*action: .*not measured/s, only("action")],
  ],
  "row /": [["one page in twenty is late", slow(2100, isOneInTwenty), /✗ \/ /, average({ JOURNEYS: "browse" }, 20)]],
  "row /products": [["one page is slow", slow(600, isSlowPage), /✗ \/prod/, twoPages]],
  page_ok: [
    ["wrong charset", header("content-type", "text/html; charset=iso-8859-1"), /200 text\/html; charset=iso-8859-1/],
    ["a page cannot be decompressed", page(every(3, BROKEN)), UNREADABLE],
    ["a cookie breaks the page", on(({ headers }) => headers.cookie, set({ status: 400 })), /GET \/: 400/],
  ],
  page_headers: [
    ["the policy is weakened", page(every(2, add("referrer-policy", "unsafe-url"))), /was "origin", is "unsafe-url"/],
    ["pages are not compressed", { compressed: false }, /content-encoding is missing/, COMPRESSED],
    ["one page's policy is gone", at("/test-events", without(POLICY)), /security-policy is missing/, onePage],
    [
      "another value",
      header("referrer-policy", "unsafe-url"),
      /is "unsafe-url", expected = "a"/,
      given("EXPECT_HEADERS", "referrer-policy=a"),
    ],
    ["the policy allows all", header(POLICY, OPEN), /allows every inline script/, given("EXPECT_HEADERS", POLICY)],
  ],
  page_nonce: [
    ["no script has the nonce", page(edit(/nonce="\w+"/g, 'nonce="other"')), /2 of 2 scripts lack the policy's nonce/],
    ["an inline script without a nonce", page(edit("<main>", "<script>1</script><main>")), /1 of 3 scripts lack/],
    ["one nonce for all pages", page(oneNonce), /the nonce 0123 was used before/],
  ],
  fresh_valid: [["both metas are missing", page(metas), /0 sentry-trace metas/]],
  not_shared: [
    [
      "a page with a trace may be stored for a minute",
      header("cache-control", "max-age=60"),
      /Control "max-age=60" on/,
    ],
    [
      "a stored page with a trace in its header",
      timed(add("age", "7")),
      /a shared cache answered with age "7" on a page/,
    ],
    ["a page with a trace that expires later", page(expires), /no Cache-Control, Expires ".*2999/],
    ["a page that a CDN may store", header("cdn-cache-control", "max-age=60"), /CDN-Cache-Control "max-age=60"/],
    ["a shared page with a cookie", sharedCookie, /Cache-Control "public" on/, given("TRACE", "off")],
  ],
  own_session: [["every visitor gets the same session", header("set-cookie", SESSION), /Set-Cookie: session=/]],
  same_settings: [
    ["half the pages of another environment", otherHalf, /environment is x, expected production/],
    ["all pages with another key", page(edit("public_key=culvert", "public_key=x")), /public_key is x/],
    ["another release than the declared one", {}, /release is app@1, expected app@2/, given("EXPECT_RELEASE", "app@2")],
    ["half the package's pages say nothing", packaged(every(2, without("server-timing"))), /browser's dsn is not said/],
    ["a foreign organisation", page(edit(TRACE_ID, "sentry-org_id=2,$&")), /org_id is 2, expected 1/, given(DSN, REAL)],
    [
      "Server-Timing is stripped everywhere",
      page(without("server-timing")),
      /browser's tunnel is not said/,
      given("SERVER_TIMING", "on"),
    ],
    ["baggage of another environment", packaged(retime), /browser's environment is test, expected production/],
    ["a page is not sampled", unsampled, /sampled is false, expected true/, given("EXPECT_SAMPLE_RATE", "1")],
    ["another rate", {}, /sample_rate is 1, expected 0.5/, given("EXPECT_SAMPLE_RATE", "0.5")],
  ],
  outgoing_baggage: [["the call's baggage is another", page(callBaggage), /sentry-trace_id was ".*", is gone/]],
  action_once: [["the action runs twice", { runs: 2 }, /the app ran it 2 times/]],
  delivered: [["replays are lost", moved((raw) => (raw.length > 100_000 ? [] : [{ raw }])), /did not arrive/]],
  delivered_once: [["every envelope is delivered twice", moved((raw) => [{ raw }, { raw }]), /arrived 2 times/]],
  unaltered: [
    ["delivered to another project", moved((raw) => [{ raw, project: 2 }]), /sent to project 1, arrived in 2/],
    ["another trace id in the header", reheaded(/"trace_id":"\w+"/, '"trace_id":"0"'), /header trace: sent .*, got/],
    ["another decade in the header", reheaded(/"sent_at":"20/, '"sent_at":"19'), /header sent_at: sent 20.*, got 19/],
    ["other bytes of the same length", reheaded(/xxxx/, "yyyy"), /sent (\d+) bytes with digest \w+, \1 bytes/],
  ],
  "row delivery": [["envelopes arrive late", moved((raw) => [{ raw, after: 900 }]), /✗ delivery .*p95 400/, late]],
  "row connections": [
    ["a connection for each request", closing, /only 0 % of the requests reused/, average({ JOURNEYS: "browse" })],
  ],
  "row drift": [
    [
      "pages get slower",
      slower,
      /half of the pages took \d+ ms in the first quarter, \d+ ms/,
      average({ JOURNEYS: "browse", DURATION: "20s", LIMITS: '{"drift":1}' }, 12),
    ],
  ],
  "row first byte": [
    [
      "one route's first byte is late",
      slow(400, isSlowPage),
      /✗ \/products .*firstByte 300/,
      average({ JOURNEYS: "browse", PAGES: "/,/products", LIMITS: '{"/products":{"firstByte":300}}' }),
    ],
  ],
};
