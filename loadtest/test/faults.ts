import type { CheckId } from "../lib/checks.ts";
import type { Answer, AppFault, Fault, Seen } from "./stub.ts";

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

const isPage = ({ path, method }: Seen) => /^\/(?:products|trace|test-events)?(?:\?|$)/.test(path) && method === "GET";
const on = (
  applies: (seen: Seen, answer: Answer) => unknown,
  change: (answer: Answer, seen: Seen) => unknown,
): Fault => ({
  response: (answer, seen) => applies(seen, answer) && change(answer, seen),
});
const page = (change: (answer: Answer, seen: Seen) => unknown) =>
  on((seen, { body }) => isPage(seen) && body.includes("<html"), change);
const at = (path: string, change: (answer: Answer, seen: Seen) => unknown) =>
  on((seen) => seen.path.startsWith(path), change);
const gets = (path: string, answer: Partial<Answer>) => at(path, (old) => Object.assign(old, answer));
const header = (name: string, value: string) => page(({ headers }) => Object.assign(headers, { [name]: value }));
const incoming = (change: (headers: Seen["headers"]) => unknown): Fault => ({
  request: ({ headers }) => change(headers),
});
const body = (answer: Answer, text: string) => Object.assign(answer, { body: text });
const every = (n: number, change: (answer: Answer) => unknown) =>
  page((answer, { count }) => count % n === 0 && change(answer));
const app = (fault: AppFault): Fault => ({ app: fault });
const payload = (change: (answer: Answer) => unknown) => on(({ headers }) => headers.rsc, change);
const isAction = ({ method, path }: Seen) => method === "POST" && path === "/test-events";
const accepted = (change: (answer: Answer, seen: Seen) => unknown) =>
  on(({ path }, { status }) => path === "/monitoring" && status === 200, change);
const slow = (milliseconds: number, applies: (seen: Seen) => unknown): Fault => ({
  delay: (seen) => (applies(seen) ? milliseconds : 0),
});

const LOGIN = {
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html><body>Please log in</body></html>",
};
const APP_ERROR = "<html><body>Application error: a server-side exception has occurred</body></html>";
const JS = "/_next/static/chunks/app.js";
const SECOND = `, ${"b".repeat(32)}-${"c".repeat(16)}-1`;
const LIMITED = { status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } };
const TIMEOUT = "Unknown: The operation was aborted due to timeout.";
/** The header of an envelope and a part of its items. */
const cut = (raw: Buffer) => raw.subarray(0, raw.indexOf(10) + 1 + Math.floor((raw.length - raw.indexOf(10)) * 0.6));
const average = (env: Record<string, string>, rounds?: number): How => ({
  profile: "average",
  env,
  ...(rounds && { rounds }),
});
const only = (ONLY: string): How => ({ env: { ONLY } });
const browse = only("browse");
const tunnel = only("envelopes,replay");

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

/** Copies a page's trace id into a cookie. */
const cookie = page(({ headers, body }) =>
  Object.assign(headers, { "set-cookie": `t=${/sentry-trace" content="(\w{32})/.exec(body)?.[1]}` }),
);
const deferred = incoming((all) => /^\w{32}-\w{16}$/.test(String(all["sentry-trace"])) && delete all["sentry-trace"]);
const otherFlag = incoming(
  (all) => all.traceparent && Object.assign(all, { traceparent: `${all.traceparent}`.replace(/..$/, "99") }),
);
const second = incoming((all) => Object.assign(all, { "sentry-trace": all["sentry-trace"] + SECOND }));
const breaks = on(
  ({ headers }) => /script/.test(`${headers["sentry-trace"]}`),
  (answer) => Object.assign(answer, { status: 500 }),
);
const noindex = page((answer) =>
  body(answer, answer.body.replace("<head>", '<head><meta name="robots" content="noindex"/>')),
);
const soft404 = on(
  (_, { status }) => status === 404,
  (answer) => Object.assign(answer, { status: 200, headers: { "content-type": "text/html" } }),
);
const afterHead = every(3, (answer) => body(answer, answer.body.slice(0, answer.body.indexOf("</head>") + 7)));
const otherPage = page(
  (answer, { count }) => count > 2 && body(answer, answer.body.replace("Page /products", "Page /other")),
);
const noForm = at("/test-events", (answer) => body(answer, answer.body.replace(/<form[\s\S]*<\/form>/, "")));
const noApi = at("/trace", (answer) => body(answer, answer.body.replace(/<dl>[\s\S]*<\/dl>/, TIMEOUT)));
const expectText = { env: { PAGES: "/,/products", EXPECT_TEXT: "/products=Page /products" } };
const afterEnvelope: Fault = {
  delay: (seen, { lastEnvelope }) => (isPage(seen) && Date.now() - lastEnvelope < 300 ? 200 : 0),
};

/** Every fault that the suite must detect, by what must name it. */
export const FAULTS: { [by in NamedBy]?: Planted[] } = {
  forwarded: [
    ["proxy drops baggage", incoming((all) => delete all.baggage), /baggage sent as .*did not arrive/],
    ["proxy rewrites traceparent", otherFlag, /traceparent sent as "00-.*-0[01]", arrived as "00-.*-99"/],
    ["proxy adds a second sentry-trace", second, /1 more: a second header/],
  ],
  continued_trace: [
    [
      "proxy drops sentry-trace",
      incoming((all) => delete all["sentry-trace"]),
      /sent trace 10ad7e5710ad\w{20}, the page is in trace \w{32}/,
    ],
    // With k6, the other client may be another journey's, not one of the ten requests.
    ["two clients' pages are swapped", swap(), /is in trace 10ad7e5710ad[0-9a-f]{20}/, only("concurrent,continued")],
  ],
  continued_sampled: [["sampling flag flipped", app("flips sampled"), /sent sampled (true|false), got (true|false)/]],
  continued_baggage: [["sampling rate rewritten", app("changes baggage"), /sample_rate was "0.5", is "1"/]],
  continued_span: [["the caller's span id is reused", app("same span"), /sent span (\w{16}), the page has span \1/]],
  continued_caller: [["a trace without a decision is not continued", deferred, /no sampling decision: sent trace/]],
  outgoing_trace: [["upstream call without a trace", app("upstream untraced"), /sent 10ad7e5710ad/]],
  outgoing_traceparent: [["traceparent of another trace", app("other traceparent"), /the page shows: Outgoing/]],
  outgoing_vendor: [["a third party's baggage is changed", app("changes vendor"), /the API received ".*vendor=/]],
  fresh_unique: [
    ["a page is cached with its trace", app("cached page"), /trace \w{32} (existed before the run|was (given|sent))/],
    ["the 404 page is cached with its trace", app("cached 404"), /was given to another client/, only("notFound")],
    [
      "concurrent clients are mixed up",
      app("mixed up"),
      /trace \w{32} (was given to another client|existed before the run)/,
    ],
  ],
  not_shared: [
    [
      "public page with a trace",
      header("cache-control", "public, max-age=60"),
      /Cache-Control "public, max-age=60"/,
      browse,
    ],
    ["s-maxage on a page with a trace", header("cache-control", "s-maxage=10"), /s-maxage=10/, browse],
  ],
  no_trace_cookie: [["the trace id is copied into a cookie", cookie, /Set-Cookie: t=[0-9a-f]{32}/, browse]],
  no_trace_headers: [
    ["responses carry trace headers", header("sentry-trace", SECOND), /sentry-trace: , b{32}-/, browse],
  ],
  invalid_headers_echo: [
    ["an invalid header is echoed", app("echoes"), /the response contains (canary|[0-9a-f]{16})/],
    ["a malformed trace id is continued", app("continues malformed"), /two sentry-traces in one|version ff/],
  ],
  invalid_headers_page: [["an invalid header breaks the page", breaks, /a malformed sentry-trace: 500/]],
  not_found_noindex: [
    [
      "404 header removed",
      { response: ({ headers }) => delete headers["x-robots-tag"] },
      /X-Robots-Tag ""/,
      only("notFound"),
    ],
  ],
  indexable: [
    ["noindex on every response", header("x-robots-tag", "noindex"), /200 with X-Robots-Tag "noindex"/],
    ["X-Robots-Tag: none", header("x-robots-tag", "none"), /X-Robots-Tag "none"/],
    ["X-Robots-Tag: NOINDEX", header("x-robots-tag", "NOINDEX, NOFOLLOW"), /"NOINDEX, NOFOLLOW"/],
    ["meta robots noindex", noindex, /meta robots "noindex"/],
  ],
  not_found_status: [["soft 404", soft404, /GET \/no-such-page-[0-9a-f]+.*200 text\/html/]],
  page_ok: [["a page answers 500", gets("/trace", { status: 500 }), /GET \/trace: 500/, only("outgoing")]],
  page_complete: [
    ["a page is cut after its head", afterHead, /<\/html> is missing/],
    [
      "an application error with 200",
      every(4, (answer) => body(answer, APP_ERROR)),
      /an error page with status 200: .*Application error/,
    ],
    [
      "Next's error document with 200",
      every(4, (answer) => body(answer, '<html id="__next_error__"></html>')),
      /__next_error__/,
    ],
    [
      "a page is nearly empty",
      every(3, (answer) => body(answer, "<html><body>ok</body></html>")),
      /28 characters .* before the run/,
    ],
    ["another page is shown", otherPage, /EXPECT_TEXT "Page \/products" is missing/, expectText],
  ],
  navigation_ok: [
    ["a component payload is HTML", payload((answer) => Object.assign(answer, LOGIN)), /_rsc=.*200 text\/html/, browse],
    ["a component payload is empty", payload((answer) => body(answer, "")), /row 0 is missing in 0 characters/, browse],
    [
      "a component payload is cut",
      payload((answer) => body(answer, answer.body.slice(0, -20))),
      /row 0 is cut/,
      browse,
    ],
  ],
  action_ok: [
    [
      "the action gets a login page",
      on(isAction, (answer) => Object.assign(answer, LOGIN)),
      /expected "received trace \w{32}".*Please log in/,
    ],
    [
      "the action is turned into a GET",
      { request: (seen) => isAction(seen) && Object.assign(seen, { method: "GET" }) },
      /expected "received trace \w{32}", got 200/,
    ],
    ["the action fails", on(isAction, (answer) => Object.assign(answer, { status: 500 })), /got 500/],
    ["the action's form is missing", noForm, /no form with a server action that contains "Call the upstream"/],
  ],
  redirect_ok: [
    [
      "redirect to the internal address",
      gets("/test-events/redirect", { headers: { location: "http://web:3000/trace" } }),
      /Location "http:\/\/web:3000\/trace", expected a redirect within/,
    ],
    [
      "redirect to the wrong page",
      gets("/test-events/redirect", { headers: { location: "/" } }),
      /Location "\/", expected \/trace/,
    ],
  ],
  asset_ok: [
    ["a build file is missing", gets(JS, { status: 404 }), /app\.js: \/ references it: 404/],
    ["a script is an HTML page", gets(JS, LOGIN), /not a js file: 200 text\/html/],
    [
      "a style sheet is cut",
      at("/_next/static/chunks/app.css", (answer) => body(answer, answer.body.slice(0, 8))),
      /cut: 8 characters/,
    ],
  ],
  delivered: [
    [
      "every envelope is thrown away",
      { deliver: () => undefined },
      /event \w{32}: answered 200, did not arrive; missing: \d+ of \d+/,
      tunnel,
    ],
    [
      "one envelope in ten is thrown away",
      { deliver: (raw, count) => (count % 10 === 0 ? undefined : raw) },
      /missing: \d+ of \d+ .*read from the recording ingest/,
      tunnel,
    ],
  ],
  unaltered: [
    ["40 % of an envelope is cut off", { deliver: cut }, /sent \d+ bytes with digest \w{64}, \d+ bytes/, tunnel],
  ],
  tunnel_answer: [
    [
      "the tunnel answers with a login page",
      accepted((answer) => Object.assign(answer, LOGIN)),
      /expected \{"id":"\w{32}"\}, got 200 text\/html.*Please log in/,
    ],
    [
      "the tunnel answers with another event's id",
      accepted((answer) => body(answer, `{"id":"${"a".repeat(32)}"}`)),
      /expected \{"id":"\w{32}"\}, got .*a{32}/,
    ],
  ],
  tunnel_accepted: [
    [
      "envelopes are rejected",
      accepted((answer) => Object.assign(answer, { status: 400 })),
      /(error|transaction|replay): 400/,
    ],
  ],
  tunnel_rejected: [
    [
      "the tunnel forwards a foreign project",
      { request: (seen) => Object.assign(seen, { path: seen.path.replace(/^(\/monitoring)\?.*/, "$1") }) },
      /a foreign (project|organisation).*: expected 403, got 200/,
    ],
    [
      "the tunnel accepts GET",
      on(
        ({ path, method }) => path === "/monitoring" && method === "GET",
        (answer) => Object.assign(answer, { status: 200 }),
      ),
      /a GET: expected 405 or 403, got 200/,
    ],
  ],
  tunnel_within_limits: [
    [
      "all but one envelope are rate-limited",
      accepted((answer, { count }) => count > 1 && Object.assign(answer, LIMITED)),
      /429/,
    ],
  ],
  tunnel_retryable: [
    [
      "a rate limit silences every category",
      accepted((answer, { count }) => count % 7 === 0 && Object.assign(answer, { status: 429 })),
      /429/,
      tunnel,
    ],
  ],
  availability: [
    [
      "the ingest is down",
      gets("/monitoring", { status: 502 }),
      /envelope .* %.*POST \/monitoring: status 502/s,
      tunnel,
    ],
    [
      "a page answers 503 one time in two",
      at("/trace", (answer, { count }) => count % 2 === 0 && Object.assign(answer, { status: 503 })),
      /GET \/trace: status 503/,
      only("outgoing"),
    ],
    [
      "a page times out",
      slow(1700, ({ path, count }) => path === "/trace" && count > 1),
      /GET \/trace: timed out/,
      { env: { TIMEOUT: "1s", ONLY: "outgoing,browse" } },
    ],
  ],
  incomplete: [
    [
      "the app's own call times out",
      noApi,
      /GET \/trace: the app's own call was not answered.*outgoing: .*not measured/s,
      only("outgoing"),
    ],
  ],
  "row /": [
    [
      "envelopes delay pages",
      afterEnvelope,
      /✗ \/ .*p95 150/,
      average({ JOURNEYS: "browse:60,envelopes:40", LIMITS: '{"/":{"p95":150}}' }),
    ],
    ["every page takes 600 ms", slow(600, isPage), /✗ \/ .*p95 500, p99 2000/, average({ ONLY: "browse" })],
    [
      "one page in twenty is three seconds late",
      slow(3000, ({ path, headers, count }) => path === "/" && !headers.rsc && count % 20 === 5),
      /✗ \/ /,
      average({ ONLY: "browse" }, 20),
    ],
  ],
  "row /products": [
    [
      "one page of PAGES is slow",
      slow(600, ({ path, headers }) => path === "/products" && !headers.rsc),
      /✗ \/products/,
      average({ PAGES: "/,/products", ONLY: "browse" }),
    ],
  ],
  "row navigation": [
    [
      "component payloads are slow",
      slow(600, ({ headers }) => headers.rsc),
      /✗ navigation/,
      average({ ONLY: "browse" }),
    ],
  ],
  "row action": [["actions are slow", slow(1100, isAction), /✗ action/, average({ ONLY: "action" })]],
  "row file": [
    ["files are slow", slow(300, ({ path }) => path.startsWith("/_next")), /✗ file/, average({ ONLY: "assets" })],
  ],
};
