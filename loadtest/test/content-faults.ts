import type { Change, Faults, How } from "./faults.ts";
import * as f from "./faults.ts";
import { type Answer, asExample, type Fault } from "./stub.ts";

const {
  accepted,
  action,
  add,
  at,
  edit,
  every,
  header,
  isPage,
  LOGIN,
  notFound,
  on,
  only,
  page,
  payload,
  receives,
  set,
  show,
} = f;
const timing =
  (from: string, to: string): Change =>
  ({ headers }) =>
    (headers["server-timing"] = `${headers["server-timing"]}`.replace(from, to));
/** An app with @culvert/nextjs whose pages change. */
const packaged = (change: Change): Fault => ({
  response: (answer, seen) => {
    asExample(answer, seen);
    if (isPage(seen)) change(answer, seen);
  },
});
const { average, JS, CSS, REDIRECT } = f;

const all =
  (...changes: Change[]): Change =>
  (answer, seen) =>
    changes.map((change) => change(answer, seen));
const without =
  (name: string): Change =>
  ({ headers }: Answer) =>
    delete headers[name];
const at10 = (minutes: number) => new Date(Date.now() + minutes * 60_000).toUTCString();
const SESSION = "session=0123456789abcdef0123456789abcdef; Path=/; HttpOnly";
/** Says that a body is compressed, which it is not. */
const BROKEN = add("content-encoding", "gzip");
const UNREADABLE = /a body that cannot be decompressed/;
const metas = edit(/<meta name="(sentry-trace|baggage)"[^>]*>/g, "");
const [browse, continued, missing, tunnel, actions] = [
  "browse",
  "continued",
  "notFound",
  "envelopes,replay",
  "action",
].map(only) as How[];
const [redirects, assets, echo] = ["redirect", "assets", "forwarded"].map(only) as How[];
const textOf = (text: string, more = {}): How => ({
  env: { JOURNEYS: "browse", PAGES: "/products,/", EXPECT_TEXT: `/products=${text}`, ...more },
});
const products = textOf("Page /products");
const NO_TEXT = /EXPECT_TEXT "Page \/products" is missing/;
const fresh = (from: string | RegExp, to: string) => page(every(2, edit(from, to)));
/** One nonce for all pages. */
const oneNonce: Change = (answer) => {
  const [, nonce = ""] = /nonce-(\w+)/.exec(answer.headers["content-security-policy"] ?? "") ?? [];
  for (const [name, value] of Object.entries(answer.headers)) answer.headers[name] = value.replace(nonce, "0123");
  answer.body = answer.body.replaceAll(nonce, "0123");
};
const oneSpan = page(edit(/(?<=sentry-trace" content="\w{32}-)\w{16}/, "f".repeat(16)));
const unsampled = all(edit(/(?<=sentry-trace" content="\w{32}-\w{16}-)1/, "0"), edit("sampled=true", "sampled=false"));
const moved = (to: Fault["deliver"]): Fault => ({ deliver: to });
const reheaded = (from: RegExp, to: string) =>
  moved((raw) => [{ raw: Buffer.from(raw.toString("latin1").replace(from, to), "latin1") }]);
const late = average({ JOURNEYS: "envelopes", LIMITS: '{"delivery":{"p95":400}}', DELIVERY_WAIT: "20s" });
const isNested = ({ path }: { path: string }) => path.startsWith("/no-such/");
const query = (name: string, change: Change) => on(({ path }) => path.includes(name), change);
const callBaggage = edit(/(?<=<dt>baggage<\/dt><dd>)[^<]*/, "other=1");

/** Faults in what an answer contains, how it is sent, and what arrives. */
export const CONTENT_FAULTS: Faults = {
  clock: [
    ["the clock is ten minutes slow", page(add("date", at10(-10))), /Date: .*, here it is/, browse],
    ["the clock is ten minutes fast", page(add("date", at10(10))), /Date: .*, here it is/, browse],
  ],
  page_ok: [
    [
      "wrong charset",
      header("content-type", "text/html; charset=iso-8859-1"),
      /200 text\/html; charset=iso-8859-1/,
      browse,
    ],
    ["a page is plain text", header("content-type", "text/plain"), /200 text\/plain/, browse],
    ["a page cannot be decompressed", page(every(3, BROKEN)), UNREADABLE, browse],
    ["one page in three is a 404", page(every(3, set({ status: 404 }))), /GET \/: 404/, browse],
    ["one page in three leads to a login", page(every(3, set({ status: 302 }))), /GET \/: 302/, browse],
    ["a cookie breaks the page", on(({ headers }) => headers.cookie, set({ status: 400 })), /GET \/: 400/, browse],
  ],
  page_complete: [
    ["the page's content is gone", page(edit(/<main>.*<\/main>/s, "<main></main>")), NO_TEXT, products],
    ["another account's heading", page(every(3, edit("Page /products", "Page of Bob"))), NO_TEXT, products],
    [
      "the text is in a comment only",
      page(edit("<h1>Page /products</h1>", "<!--Page /products-->")),
      NO_TEXT,
      products,
    ],
    ["an error document with 200", page(every(3, show("<title>500</title></html>"))), /contains <title>500/, browse],
    ["a page that could not load", page(every(3, edit("<main>", "This page couldn’t load"))), /couldn’t load/, browse],
  ],
  page_headers: [
    [
      "the policy is gone from one page in two",
      page(every(2, without("content-security-policy"))),
      /policy was ".*", is gone/,
      browse,
    ],
    [
      "a header is gone",
      page(without("referrer-policy")),
      /Referrer-Policy is missing/,
      { env: { JOURNEYS: "browse", EXPECT_HEADERS: "Referrer-Policy" } },
    ],
    [
      "a header has another value",
      header("referrer-policy", "unsafe-url"),
      /referrer-policy is "unsafe-url", expected = "origin"/,
      { env: { JOURNEYS: "browse", EXPECT_HEADERS: "referrer-policy=origin" } },
    ],
    [
      "the declared policy allows every inline script",
      page(add("content-security-policy", "default-src * 'unsafe-inline' 'unsafe-eval'")),
      /the policy allows every inline script/,
      { env: { JOURNEYS: "browse", EXPECT_HEADERS: "content-security-policy" } },
    ],
    [
      "the policy is weakened",
      page(every(2, add("referrer-policy", "unsafe-url"))),
      /was "origin", is "unsafe-url"/,
      browse,
    ],
  ],
  page_nonce: [
    [
      "no script has the nonce",
      page(edit(/nonce="\w+"/g, 'nonce="other"')),
      /2 of 2 scripts lack the policy's nonce/,
      browse,
    ],
    ["scripts without a nonce", page(edit(/ nonce="\w+"/g, "")), /2 of 2 scripts lack/, browse],
    [
      "an inline script without a nonce",
      page(edit("<main>", "<script>1</script><main>")),
      /1 of 3 scripts lack/,
      browse,
    ],
    ["one nonce for all pages", page(oneNonce), /the nonce 0123 was used before/, browse],
  ],
  fresh_valid: [
    ["both metas are missing", page(metas), /0 sentry-trace metas/, browse],
    [
      "two sentry-trace metas",
      page(edit("<head>", '<head><meta name="sentry-trace" content="x">')),
      /2 sentry-trace metas/,
      browse,
    ],
    ["an invalid baggage", page(edit("sentry-trace_id=", "=")), /baggage meta ".*" is not valid/, browse],
    ["baggage of another trace", page(edit("sentry-trace_id=", "sentry-trace_id=f")), /baggage is of trace f/, browse],
    ["a trace id of zeros", page(edit(/(?<=sentry-trace" content=")\w{32}/, "0".repeat(32))), /is not valid/, browse],
    ["baggage is missing", page(edit(/<meta name="baggage"[^>]*>/, "")), /0 baggage metas/, browse],
    [
      "a wrong sampling decision in baggage",
      page(edit("sampled=true", "sampled=false")),
      /baggage says sampled false/,
      browse,
    ],
  ],
  not_shared: [
    ["nothing about caches on a page with a trace", page(without("cache-control")), /Cache-Control "" on/, browse],
    [
      "a shared page with a cookie",
      page(all(metas, add("set-cookie", "a=1"), add("cache-control", "public"))),
      /Cache-Control "public" on/,
      { env: { JOURNEYS: "browse", TRACE: "off" } },
    ],
  ],
  own_session: [["every visitor gets the same session", header("set-cookie", SESSION), /Set-Cookie: session=/, browse]],
  fresh_unique: [["one span id on all pages", oneSpan, /span f{16} was on another page/, browse]],
  continued_span: [["one span id on all continued pages", oneSpan, /which no other page may have/, continued]],
  same_settings: [
    [
      "half the pages of another environment",
      fresh("environment=production", "environment=x"),
      /environment is x, expected production/,
      browse,
    ],
    [
      "half the pages of another release",
      fresh("release=app%401", "release=app%402"),
      /release is app@2, expected app@1/,
      browse,
    ],
    [
      "all pages with another key",
      page(edit("public_key=culvert", "public_key=x")),
      /public_key is x, expected culvert/,
      browse,
    ],
    [
      "another release than the declared one",
      {},
      /release is app@1, expected app@2/,
      { env: { JOURNEYS: "browse", EXPECT_RELEASE: "app@2" } },
    ],
    [
      "half the package's pages of another environment",
      packaged(every(2, timing("production", "test"))),
      /browser's environment is test, expected production/,
      browse,
    ],
    [
      "half the package's pages say nothing",
      packaged(every(2, without("server-timing"))),
      /browser's dsn is not said/,
      browse,
    ],
    [
      "a foreign organisation",
      page(edit("sentry-trace_id=", "sentry-org_id=2,sentry-trace_id=")),
      /org_id is 2, expected 1/,
      { env: { JOURNEYS: "browse", SENTRY_DSN: "https://culvert@o1.ingest.sentry.io/1" } },
    ],
    [
      "half the pages with another rate",
      fresh("sample_rate=1", "sample_rate=0.9"),
      /sample_rate is 0.9, expected 1/,
      browse,
    ],
  ],
  fresh_sampled: [
    ["all pages are unsampled", page(unsampled), /sampled false/, browse],
    ["sampled above the rate", page(edit("sample_rate=1", "sample_rate=0.1")), /sample_rate=0.1.*sampled true/, browse],
  ],
  forwarded: [
    ["no cookie reaches the app", at("/api/echo", edit(/"cookie":"[^"]*"/, '"cookie":null')), /cookie .*did not/, echo],
    [
      "proxy changes the cookie",
      receives("cookie", () => "other=1"),
      /cookie sent as "loadtest=.*", arrived as "other=1"/,
      echo,
    ],
    ["proxy re-encodes baggage", receives("baggage", (value) => value.replaceAll("%20", "+")), /baggage sent as/, echo],
    ["the echo cannot be decompressed", at("/api/echo", BROKEN), UNREADABLE, echo],
  ],
  outgoing_baggage: [
    ["the call's baggage is another", page(callBaggage), /sentry-trace_id was ".*", is gone/, only("outgoing")],
  ],
  navigation_ok: [
    [
      "a component payload of another page",
      payload(edit("Page /products", "Page /")),
      /the payload of another page/,
      products,
    ],
    ["navigations lose the trace", payload(edit(/"trace":"[^"]*"/, '"trace":""')), /it is not in trace \w{32}/, browse],
    ["a component payload cannot be decompressed", payload(BROKEN), UNREADABLE, browse],
    ["a component payload is a 500", payload(set({ status: 500 })), /500 text\/x-component/, browse],
    ["a component payload without a type", payload(without("content-type")), /without a content type/, browse],
    ["a component payload ends in a text", payload(show("2:T7f,cut")), /row 2 is cut/, browse],
    ["a component payload without content", payload(show("0:null\n")), /row 0 is not a page/, browse],
  ],
  action_ok: [
    [
      "the action shows another result",
      action(edit(/trace <!-- -->\w+/, "trace 0")),
      /expected "received trace \w{32}"/,
      actions,
    ],
    ["the action leads to a login", action(set({ status: 303 })), /303 instead of/, actions],
    ["the action's page is cut", action(edit("</html>", "")), /expected "received trace/, actions],
  ],
  action_once: [["the action runs twice", { runs: 2 }, /the app ran it 2 times/, actions]],
  redirect_ok: [
    ["the redirect is permanent", at(REDIRECT, set({ status: 301 })), /301 .*expected a temporary one/, redirects],
    [
      "the redirect is cached for a year",
      at(REDIRECT, add("cache-control", "max-age=31536000")),
      /expected no caching/,
      redirects,
    ],
    [
      "the redirect has another status",
      at(REDIRECT, set({ status: 302 })),
      /expected status 307/,
      { env: { JOURNEYS: "redirect", REDIRECT_STATUS: "307" } },
    ],
    ["a query breaks the redirect", query("from=", set({ status: 500 })), /\?from=.*: 500/, redirects],
    [
      "redirect to another origin",
      at(REDIRECT, add("location", "//evil.example/trace")),
      /expected a redirect within/,
      redirects,
    ],
    [
      "the redirect's page is missing",
      at("/trace", set({ status: 404 })),
      /redirects here: 404/,
      { env: { JOURNEYS: "redirect", TRACE_PAGE: "off" } },
    ],
  ],
  asset_ok: [
    [
      "files of another build with the same length",
      at(JS, every(2, edit("self.x", "self.y"))),
      /it has changed: 33 characters/,
      assets,
    ],
    ["a script cannot be decompressed", at(JS, BROKEN), UNREADABLE, assets],
    ["a script is a style sheet", at(JS, add("content-type", "text/css")), /not a js file/, assets],
    ["a style sheet is empty", at(CSS, show("")), /cut: 0 characters/, assets],
    ["a style sheet is a 403", at(CSS, set({ status: 403 })), /app\.css: \/ references it: 403/, assets],
  ],
  not_found_status: [
    [
      "a link to a missing page is a 200",
      on(({ headers }, { status }) => headers.rsc && status === 404, set({ status: 200 })),
      /_rsc=.*: 200/,
      missing,
    ],
    ["a missing page below a page is a 200", on(isNested, set({ status: 200 })), /GET \/no-such\/.*: 200/, missing],
    ["a missing page is a 500", notFound(set({ status: 500 })), /: 500/, missing],
    [
      "a missing file is a page",
      on(({ path }) => /chunks\/\w{12}/.test(path), set({ status: 200 })),
      /chunks\/\w+\.js: 200/,
      missing,
    ],
    ["a missing API route is a page", at("/api/no-such", LOGIN), /api\/no-such-\w+: 200/, missing],
  ],
  not_found_noindex: [
    [
      "404 without the meta",
      notFound(without("x-robots-tag")),
      /meta robots ""/,
      { env: { JOURNEYS: "notFound", NOINDEX: "meta" } },
    ],
  ],
  delivered: [["replays are lost", moved((raw) => (raw.length > 100_000 ? [] : [{ raw }])), /did not arrive/, tunnel]],
  delivered_once: [
    ["every envelope is delivered twice", moved((raw) => [{ raw }, { raw }]), /arrived 2 times/, tunnel],
    [
      "one in five is delivered three times",
      moved((raw, n) => Array(n % 5 ? 1 : 3).fill({ raw })),
      /arrived 3 times/,
      tunnel,
    ],
  ],
  unaltered: [
    ["delivered to another project", moved((raw) => [{ raw, project: 2 }]), /sent to project 1, arrived in 2/, tunnel],
    [
      "another trace id in the header",
      reheaded(/"trace_id":"\w+"/, '"trace_id":"0"'),
      /header trace: sent .*, got/,
      tunnel,
    ],
    [
      "another sample rate in the header",
      reheaded(/"sample_rate":"1"/, '"sample_rate":"0.1"'),
      /header trace: sent/,
      tunnel,
    ],
    [
      "another DSN in the header",
      reheaded(/"dsn":"[^"]*"/, '"dsn":"http://other@ingest/1"'),
      /header dsn: sent/,
      tunnel,
    ],
    [
      "another decade in the header",
      reheaded(/"sent_at":"20/, '"sent_at":"19'),
      /header sent_at: sent 20.*, got 19/,
      tunnel,
    ],
    ["a header field is dropped", reheaded(/"sdk":\{[^}]*\},/, ""), /header sdk: sent .*, got undefined/, tunnel],
    ["other bytes of the same length", reheaded(/xxxx/, "yyyy"), /sent (\d+) bytes with digest \w+, \1 bytes/, tunnel],
  ],
  tunnel_within_limits: [
    [
      "accepted envelopes silence the browser",
      accepted(add("x-sentry-rate-limits", "3600::organization")),
      /200 .*X-Sentry-Rate-Limits: 3600::organization/,
      tunnel,
    ],
  ],
  "row delivery": [["envelopes arrive late", moved((raw) => [{ raw, after: 900 }]), /✗ delivery .*p95 400/, late]],
  tunnel_accepted: [
    ["the tunnel is a 404", at("/monitoring", set({ status: 404 })), /: 404/, tunnel],
    ["the tunnel wants a login", accepted(set({ status: 401 })), /: 401/, tunnel],
    ["the tunnel redirects", accepted(set({ status: 307 })), /: 307/, tunnel],
  ],
  tunnel_rejected: [
    [
      "a foreign organisation is accepted",
      query("o=4040404", set({ status: 200 })),
      /a foreign organisation/,
      only("reject"),
    ],
    [
      "an invalid project breaks the tunnel",
      query("p=..", set({ status: 500 })),
      /an invalid project: .*500/,
      only("reject"),
    ],
  ],
  availability: [
    ["one page in two is rate-limited", page(every(2, set({ status: 429 }))), /GET \/: status 429/, browse],
    ["files are not there now", at("/_next", set({ status: 504 })), /status 504/, assets],
  ],
};
