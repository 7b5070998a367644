import type { Change, Faults, How } from "./faults.ts";
import * as f from "./faults.ts";
import { hasK6 } from "./run-suite.ts";
import { asExample, asHeader, type Fault } from "./stub.ts";

const { accepted, action, add, at, average, edit, every, header, isPage, LOGIN, notFound, only } = f;
const { on, page, payload, receives, set, show, JS, CSS, REDIRECT } = f;
const retime: Change = ({ headers }) =>
  (headers["server-timing"] = `${headers["server-timing"]}`.replace("production", "test"));
/** An app with @culvert/nextjs whose pages change. */
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
/** A shared cache that stores Server-Timing. */
function storeTiming(): Change {
  const first: Record<string, string> = {};
  return ({ headers }, { path }) => (headers["server-timing"] = first[path] ??= headers["server-timing"] ?? "");
}
const TIMING = `sentry-trace;desc="${"b".repeat(32)}-${"c".repeat(16)}-1"`;
function without(name: string): Change {
  return ({ headers }) => delete headers[name];
}
const SESSION = "session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly";
/** Says that a body is compressed, which it is not. */
const BROKEN = add("content-encoding", "gzip");
const UNREADABLE = /a body that cannot be decompressed/;
const metas = edit(/<meta name="(sentry-trace|baggage)"[^>]*>/g, "");
const given = (name: string, value: string): How => ({ env: { [name]: value } });
const browse = only("browse");
const [POLICY, OPEN] = ["content-security-policy", "default-src * 'unsafe-inline' 'unsafe-eval'"];
const onePage: How = { env: { EXPECT_HEADERS: `/test-events:${POLICY}~nonce-`, JOURNEYS: "action" } };
const COMPRESSED = given("EXPECT_HEADERS", "content-encoding");
const refuses = (bytes: number): Fault =>
  on(({ path, body }) => path === "/monitoring" && body.length > bytes, set({ status: 413 }));
const NO_REFERRER = page(without("referrer-policy"));
const UNSAFE = header("referrer-policy", "unsafe-url");
const [DSN, REAL, TRACE_ID] = ["SENTRY_DSN", "https://culvert@o1.ingest.sentry.io/1", "sentry-trace_id="];
const sharedCookie = page((answer, seen) => {
  for (const change of [metas, add("set-cookie", "a=1"), add("cache-control", "public")]) change(answer, seen);
});
const expires: Change = ({ headers }) => {
  delete headers["cache-control"];
  headers.expires = "Fri, 01 Jan 2999 00:00:00 GMT";
};
const both = packaged(retime);
const packageOn = given("SERVER_TIMING", "on");
const unsampled = page((answer, seen) => {
  edit("sampled=true", "sampled=false")(answer, seen);
  edit(/(?<=sentry-trace" content="\w+-\w+-)1/, "0")(answer, seen);
});
const otherTiming = packaged(every(2, retime));
const env = { JOURNEYS: "browse", PAGES: "/products,/", EXPECT_TEXT: "/products=Page /products" };
const products: How = { env };
const NO_TEXT = /EXPECT_TEXT "Page \/products" is missing/;
const fresh = (from: string | RegExp, to: string) => page(every(2, edit(from, to)));
/** One nonce for all pages. */
const oneNonce: Change = (answer) => {
  const [, nonce = ""] = /nonce-(\w+)/.exec(answer.headers["content-security-policy"] ?? "") ?? [];
  for (const [name, value] of Object.entries(answer.headers)) answer.headers[name] = value.replace(nonce, "0123");
  answer.body = answer.body.replaceAll(nonce, "0123");
};
const oneSpan = page(edit(/(?<=sentry-trace" content="\w{32}-)\w{16}/, "f".repeat(16)));
const moved = (to: Fault["deliver"]): Fault => ({ deliver: to });
const reheaded = (from: RegExp, to: string) =>
  moved((raw) => [{ raw: Buffer.from(raw.toString("latin1").replace(from, to), "latin1") }]);
const lateByte: Fault = { delay: ({ path, headers }) => (path === "/products" && !headers.rsc ? 400 : 0) };
/** Something piles up: pages of the second half of a run are late. */
const slower: Fault = {
  delay: ({ path, headers, count }) => (path === "/" && !headers.rsc && count > (hasK6 ? 120 : 25) ? 400 : 0),
};
const late = average({ JOURNEYS: "envelopes", LIMITS: '{"delivery":{"p95":400}}', DELIVERY_WAIT: "20s" });
const closing: Fault = { response: ({ headers }) => (headers.connection = "close") };
const isNested = ({ path }: { path: string }) => path.startsWith("/no-such/");
const query = (name: string, change: Change) => on(({ path }) => path.includes(name), change);
const callBaggage = edit(/(?<=<dt>baggage<\/dt><dd>)[^<]*/, "other=1");

/** Faults in what an answer contains, how it is sent, and what arrives. */
export const CONTENT_FAULTS: Faults = {
  page_ok: [
    ["wrong charset", header("content-type", "text/html; charset=iso-8859-1"), /200 text\/html; charset=iso-8859-1/],
    ["a page cannot be decompressed", page(every(3, BROKEN)), UNREADABLE],
    ["one page in three is a 404", page(every(3, set({ status: 404 }))), /GET \/: 404/],
    ["a cookie breaks the page", on(({ headers }) => headers.cookie, set({ status: 400 })), /GET \/: 400/],
  ],
  page_complete: [
    ["the page's content is gone", page(edit(/<main>.*<\/main>/s, "<main></main>")), NO_TEXT, products],
    ["another account's heading", page(every(3, edit("Page /products", "Page of Bob"))), NO_TEXT, products],
    ["the text in a comment", page(edit("<h1>Page /products</h1>", "<!--Page /products-->")), NO_TEXT, products],
  ],
  page_headers: [
    ["one page in two without the policy", page(every(2, without("content-security-policy"))), /was ".*", is gone/],
    ["pages are not compressed", { compressed: false }, /content-encoding is missing/, COMPRESSED],
    ["a header is gone", NO_REFERRER, /policy is missing/, given("EXPECT_HEADERS", "referrer-policy")],
    ["one page's policy is gone", at("/test-events", without(POLICY)), /security-policy is missing/, onePage],
    ["another value", UNSAFE, /is "unsafe-url", expected = "a"/, given("EXPECT_HEADERS", "referrer-policy=a")],
    ["the policy allows all", header(POLICY, OPEN), /allows every inline script/, given("EXPECT_HEADERS", POLICY)],
    ["the policy is weakened", page(every(2, add("referrer-policy", "unsafe-url"))), /was "origin", is "unsafe-url"/],
  ],
  page_nonce: [
    ["no script has the nonce", page(edit(/nonce="\w+"/g, 'nonce="other"')), /2 of 2 scripts lack the policy's nonce/],
    ["an inline script without a nonce", page(edit("<main>", "<script>1</script><main>")), /1 of 3 scripts lack/],
    ["one nonce for all pages", page(oneNonce), /the nonce 0123 was used before/],
  ],
  fresh_valid: [
    ["both metas are missing", page(metas), /0 sentry-trace metas/],
    [
      "Server-Timing is stripped",
      timed(every(2, without("server-timing"))),
      /0 sentry-trace metas or entries in Server/,
    ],
    [
      "meta and header disagree",
      header("server-timing", TIMING),
      /the meta is of trace \w{32}, Server-Timing of b{32}/,
    ],
  ],
  continued_trace: [
    ["a shared cache stores Server-Timing", timed(storeTiming()), /sent trace 10ad7e5710ad\w{20}, the page/],
  ],
  no_trace_headers: [
    [
      "a component payload carries a trace",
      payload(add("server-timing", TIMING)),
      /x-component with .*sentry-trace;desc/,
      browse,
    ],
    [
      "a file carries a trace",
      at(JS, add("server-timing", TIMING)),
      /javascript with .*sentry-trace;desc/,
      only("assets"),
    ],
  ],
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
  fresh_unique: [
    ["one span id on all pages", oneSpan, /span f{16} was on another page/],
    [
      "a shared cache stores Server-Timing",
      timed(storeTiming()),
      /trace \w{32} (existed before|was given|was sent)/,
      browse,
    ],
  ],
  continued_span: [["one span id on all continued pages", oneSpan, /which no other page may have/]],
  same_settings: [
    ["half the pages of another environment", fresh("=production", "=x"), /environment is x, expected production/],
    ["half of another release", fresh("release=app%401", "release=app%402"), /release is app@2, expected app@1/],
    ["all pages with another key", page(edit("public_key=culvert", "public_key=x")), /public_key is x/],
    ["another release than the declared one", {}, /release is app@1, expected app@2/, given("EXPECT_RELEASE", "app@2")],
    ["half the package's pages of another one", otherTiming, /browser's environment is test, expected production/],
    ["half the package's pages say nothing", packaged(every(2, without("server-timing"))), /browser's dsn is not said/],
    ["a foreign organisation", page(edit(TRACE_ID, "sentry-org_id=2,$&")), /org_id is 2, expected 1/, given(DSN, REAL)],
    ["Server-Timing is stripped everywhere", page(without("server-timing")), /browser's tunnel is not said/, packageOn],
    ["baggage of another environment", both, /browser's environment is test, expected production/],
    ["a page is not sampled", unsampled, /sampled is false, expected true/, given("EXPECT_SAMPLE_RATE", "1")],
    ["another rate", {}, /sample_rate is 1, expected 0.5/, given("EXPECT_SAMPLE_RATE", "0.5")],
    ["half the pages with another rate", fresh("sample_rate=1", "sample_rate=0.9"), /sample_rate is 0.9, expected 1/],
  ],
  forwarded: [
    ["no cookie reaches the app", at("/api/echo", edit(/"cookie":"[^"]*"/, '"cookie":null')), /cookie .*did not/],
    ["proxy changes the cookie", receives("cookie", () => "other=1"), /sent as "loadtest=.*", arrived as "other=1"/],
    ["proxy re-encodes baggage", receives("baggage", (value) => value.replaceAll("%20", "+")), /baggage sent as/],
    ["the echo cannot be decompressed", at("/api/echo", BROKEN), UNREADABLE],
  ],
  outgoing_baggage: [["the call's baggage is another", page(callBaggage), /sentry-trace_id was ".*", is gone/]],
  navigation_ok: [
    ["another page's payload", payload(edit("Page /products", "Page /")), /the payload of another page/, products],
    ["navigations are not sampled", payload(edit(/(?<="trace":"\w+-\w+-)1/, "0")), /was sampled -1, its call -0/],
    ["navigations lose the trace", payload(edit(/"trace":"[^"]*"/, '"trace":""')), /it is not in trace \w{32}/],
    ["a component payload ends in a text", payload(show("2:T7f,cut")), /row 2 is cut/],
    ["a component payload without content", payload(show("0:null\n")), /row 0 is not a page/],
  ],
  action_ok: [["another result", action(edit(/trace <!-- -->\w+/, "trace 0")), /expected "received trace \w{32}"/]],
  action_once: [["the action runs twice", { runs: 2 }, /the app ran it 2 times/]],
  redirect_ok: [
    ["the redirect is permanent", at(REDIRECT, set({ status: 301 })), /301 .*expected a temporary one/],
    ["the redirect is cached", at(REDIRECT, add("cache-control", "max-age=31536000")), /expected no caching/],
    ["another status", at(REDIRECT, set({ status: 302 })), /expected status 307/, given("REDIRECT_STATUS", "307")],
    ["a query breaks the redirect", query("from=", set({ status: 500 })), /\?from=.*: 500/],
    ["its page is missing", at("/trace", set({ status: 404 })), /redirects here: 404/, given("TRACE_PAGE", "off")],
  ],
  asset_ok: [
    ["files of another build", at(JS, every(2, edit("self.x", "self.y"))), /it has changed: 33 characters/],
    ["a style sheet is a 403", at(CSS, set({ status: 403 })), /app\.css: \/ references it: 403/],
  ],
  not_found_status: [
    ["a link to a missing page is a 200", on(({ headers }) => headers.rsc, set({ status: 200 })), /_rsc=.*: 200/],
    ["a missing page below a page is a 200", on(isNested, set({ status: 200 })), /GET \/no-such\/.*: 200/],
    ["a missing file is a page", on(({ path }) => /chunks\/\w{12}/.test(path), set({ status: 200 })), /\.js: 200/],
    ["a missing API route is a page", at("/api/no-such", LOGIN), /api\/no-such-\w+: 200/],
  ],
  not_found_noindex: [
    ["404 without the meta", notFound(without("x-robots-tag")), /meta robots ""/, { env: { NOINDEX: "meta" } }],
  ],
  delivered: [["replays are lost", moved((raw) => (raw.length > 100_000 ? [] : [{ raw }])), /did not arrive/]],
  delivered_once: [["every envelope is delivered twice", moved((raw) => [{ raw }, { raw }]), /arrived 2 times/]],
  unaltered: [
    ["delivered to another project", moved((raw) => [{ raw, project: 2 }]), /sent to project 1, arrived in 2/],
    ["another trace id in the header", reheaded(/"trace_id":"\w+"/, '"trace_id":"0"'), /header trace: sent .*, got/],
    ["another decade in the header", reheaded(/"sent_at":"20/, '"sent_at":"19'), /header sent_at: sent 20.*, got 19/],
    ["other bytes of the same length", reheaded(/xxxx/, "yyyy"), /sent (\d+) bytes with digest \w+, \1 bytes/],
  ],
  tunnel_within_limits: [
    ["envelopes silence the browser", accepted(add("x-sentry-rate-limits", "3600::key")), /200 .*-Limits: 3600/],
  ],
  "row delivery": [["envelopes arrive late", moved((raw) => [{ raw, after: 900 }]), /✗ delivery .*p95 400/, late]],
  tunnel_accepted: [
    // Nginx' default.
    ["more than 1 MB is refused", refuses(1_000_000), /replay: 413/],
    ["more than 10 MB is refused", refuses(10_000_000), /largest: 413/, average({ JOURNEYS: "replay" }, 1)],
  ],
  tunnel_rejected: [
    ["a foreign organisation is accepted", query("o=4040404", set({ status: 200 })), /a foreign organisation/],
    ["an invalid project breaks the tunnel", query("p=..", set({ status: 500 })), /an invalid project: .*500/],
  ],
  "row connections": [
    ["a connection for each request", closing, /only 0 % of the requests reused/, average({ JOURNEYS: "browse" })],
  ],
  "row drift": [
    [
      "pages get slower",
      slower,
      /half of the pages took \d+ ms in the first quarter, \d+ ms/,
      average({ JOURNEYS: "browse", DURATION: "20s" }, 40),
    ],
  ],
  "row first byte": [
    [
      "one route's first byte is late",
      lateByte,
      /✗ \/products .*firstByte 300/,
      average({ JOURNEYS: "browse", PAGES: "/,/products", LIMITS: '{"/products":{"firstByte":300}}' }),
    ],
  ],
  availability: [
    ["one page in two is rate-limited", page(every(2, set({ status: 429 }))), /GET \/: status 429/, browse],
  ],
};
