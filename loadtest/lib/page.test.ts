import { describe, expect, it, vi } from "vitest";
import { callUpstream } from "../../web/src/console/upstream.ts";
import { listen } from "../test/stub.ts";
import { changedFields, parseBaggage } from "./baggage.ts";
import { findActionForm, multipart } from "./form.ts";
import { assets } from "./html.ts";
import { pageTrace, parseTrace, parseTraceParent } from "./trace.ts";
import { callFailed, upstreamHeaders, upstreamText } from "./upstream.ts";

it("a page's assets are the build's files, each once, also below a base path, and no others", () => {
  const html = `<script src="/_next/static/a.js"></script><link rel=preload href="/_next/static/a.js"/>
    <link href="/shop/_next/static/b.css"/><link href="/icon.svg"/><script src="https://cdn.example/_next/static/c.js"></script>
    <script src="//evil.example/_next/static/d.js"></script>`;
  expect(assets(html)).toEqual(["/_next/static/a.js", "/shop/_next/static/b.css"]);
});

const [ID, SPAN] = ["771a43a4192642f0b136d5159a501700", "7c51afd529da4a2a"];
const TRACE = `${ID}-${SPAN}-1`;
const good = `sentry-trace_id=${ID},sentry-sampled=true`;
const page = (trace: string, baggage: string) =>
  `<head><meta name="sentry-trace" content="${trace}"/><meta content='${baggage}' name=baggage></head>`;

const timing = (trace: string, baggage: string) => `db;dur=1, sentry-trace;desc="${trace}", baggage;desc="${baggage}"`;

const NONE = "0 sentry-trace metas or entries in Server-Timing";
const CULVERT = 'culvert;desc="dsn=x"';
const STORABLE = { "cache-control": "s-maxage=31536000" };
it.each([
  [page(TRACE, good) + page(TRACE, good), "", {}, "2 sentry-trace metas"],
  [page("nonsense", good), "", {}, 'sentry-trace "nonsense" is not valid'],
  [page(TRACE, "="), "", {}, 'baggage "=" is not valid'],
  [page(TRACE, `sentry-trace_id=${ID},sentry-sampled=false`), "", {}, "baggage says sampled false, sentry-trace true"],
  [`<meta name="sentry-trace" content="${TRACE}">`, "", {}, "0 baggage metas"],
  ["", timing(TRACE, good), {}, ""],
  ["", timing(TRACE, "sentry-trace_id=b"), {}, `baggage is of trace b, sentry-trace of ${ID}`],
  [page(TRACE, good), timing(TRACE, good), {}, ""],
  [
    page(TRACE, good),
    timing(`${"f".repeat(32)}-${SPAN}`, ""),
    {},
    `the meta is of trace ${ID}, Server-Timing of f{32}`,
  ],
  ["", CULVERT, {}, NONE],
  // The package leaves it out where a cache could give it to other visitors.
  ["", CULVERT, STORABLE, ""],
  ["", "", STORABLE, NONE],
])(
  "a page's trace, in its metas or in Server-Timing, has a described problem or none: %#",
  (body, timing, more, problem) => {
    expect(pageTrace({ body, headers: { "server-timing": timing, ...more } }).problem).toMatch(RegExp(`^${problem}$`));
  },
);

it("the trace page shows the headers that the API received: those of the last heading, never an earlier hop's", () => {
  const hop = (name: string, pairs: string) => `<li><h2>${name}</h2>${pairs}</li>`;
  const list = (trace: string) => `<dl><div><dt class="x">sentry-trace</dt><dd>${trace}</dd></div></dl>`;
  const shown = upstreamHeaders(hop("Rendered", list("a")) + hop("Outgoing", list("b&amp;")));
  expect(shown).toEqual({ "sentry-trace": "b&" });
  const unknown = `${hop("Rendered", list("a"))}${hop("Outgoing", "<p>Unknown: timed out.</p>")}</main>more`;
  expect(upstreamHeaders(unknown)).toEqual({});
  expect(upstreamText(unknown)).toBe("Outgoing Unknown: timed out.");
});

it.each([
  ["half of its JSON, then nothing", '{"sentry-', "times out", /^it does not answer/],
  ["half of its JSON, then closes", '{"sentry-', "closes", /^it does not answer/],
  ["other JSON", "null", "ends", /^it does not echo/],
  ["no JSON", "<html>", "ends", /^it does not echo/],
])("an API that answers with %s: the example's page says whether it did not answer", async (_, body, then, words) => {
  const controller = new AbortController();
  vi.spyOn(AbortSignal, "timeout").mockReturnValueOnce(controller.signal);
  const url = await listen((_, response) => {
    response.write(body, () => {
      if (then === "times out") controller.abort(new DOMException("aborted due to timeout", "TimeoutError"));
      if (then === "closes") response.destroy();
      if (then === "ends") response.end();
    });
  });
  const { problem } = (await callUpstream(new URL(url))) as { problem: string };
  vi.restoreAllMocks();
  expect([problem, callFailed(problem)]).toEqual([expect.stringMatching(words), then !== "ends"]);
});

it.each([
  "the API does not answer",
  "The operation was aborted",
  "request timed out",
  "Timeout",
  "connect ECONNREFUSED",
  "read ETIMEDOUT",
  "getaddrinfo EAI_AGAIN api",
  "socket hang up",
  "other side closed",
  "terminated",
  "fetch failed",
  "it responds with 429",
  "it responds with 503",
])("a call that was not answered is told from a wrong answer: %s", (text) => {
  expect(callFailed(`Unknown: ${text}.`)).toBe(true);
  expect(callFailed("it responds with 500")).toBe(false);
});

const FORM = `<form><input name="q"/></form><form action=""><input type="hidden" name="$ACTION_REF_1"/>
  <input type="hidden" name="$ACTION_1:0" value="{&quot;id&quot;:&quot;é&quot;}"/><input name="text" value="hello"/>
  <textarea name="more"></textarea><button type="submit">Go</button></form>`;

it("a server action's form has React's hidden fields, and is sent with all fields as multipart that Node can parse", async () => {
  expect(findActionForm("<form><input name=q></form>")).toBeUndefined();
  const fields = findActionForm(FORM) ?? [];
  const expected = { $ACTION_REF_1: "", "$ACTION_1:0": '{"id":"é"}', text: "hello", more: "load test" };
  expect(fields).toEqual(Object.entries(expected));
  const { body, contentType } = multipart(fields, "b0undary");
  const read = await new Response(body, { headers: { "content-type": contentType } }).formData();
  expect([...read]).toEqual(fields);
});

it.each([
  undefined,
  ID,
  `${ID}-${SPAN}-2`,
  `${ID.toUpperCase()}-${SPAN}-1`,
  `${ID}-${SPAN}-1, ${ID}-${SPAN}-1`,
  `${"0".repeat(32)}-${SPAN}-1`,
  `${ID}-${"0".repeat(16)}-1`,
  `ff-${ID}-${SPAN}-01`,
  `00-${ID}-${SPAN}-01-more`,
  `00-${ID}-${SPAN}-1`,
  `00-${"0".repeat(32)}-${SPAN}-01`,
])("a trace header cannot be %j", (value) => {
  expect(parseTrace(value) ?? parseTraceParent(value)).toBeUndefined();
});

describe("baggage", () => {
  it("parses W3C's example: optional spaces, a property, escapes, an = in a value", () => {
    expect(parseBaggage("key1=value1;property1, key2 = value2, key3=a=b; p=1,d=,n=DF%2028")).toEqual({
      key1: "value1",
      key2: "value2",
      key3: "a=b",
      d: "",
      n: "DF 28",
    });
  });

  it.each([undefined, "a", "a=b,", "=b", "a b=c", 'a="b"', "a=b\\c", "a=%E0%A4%A", "é=1", "a=é"])(
    "rejects %j",
    (value) => {
      expect(parseBaggage(value)).toBeUndefined();
    },
  );

  it("that came back is compared field by field, in any order and with fields added by others", () => {
    const sent = { "sentry-trace_id": "a", "sentry-sample_rate": "0.5" };
    expect(changedFields(sent, "x=1,sentry-sample_rate=0.5,sentry-trace_id=a,sentry-org_id=1")).toEqual([]);
    expect(changedFields(sent, "sentry-sample_rate=0.5")).toEqual(['sentry-trace_id was "a", is gone']);
  });
});
