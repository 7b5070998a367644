import * as sentry from "@sentry/nextjs";
import { expect, test, vi } from "vitest";
import { sampler } from "../filter/sampling.js";
import { sendServerTiming } from "../serve/server-timing.js";
import { listen } from "../test/listen.js";
import { traceMetrics } from "./page-trace.js";

vi.stubEnv("CULVERT_BASE_PATH", "/shop");
sentry.init({
  dsn: "http://culvert@127.0.0.1:9/1",
  release: 'quoted "1"',
  tracesSampler: sampler(({ attributes }) => (attributes?.query === "rate=0" ? 0 : 1)),
});
sendServerTiming(traceMetrics);

const PRIVATE = "private, no-cache, no-store, max-age=0, must-revalidate";
const page = { "content-type": "text/html; charset=utf-8" };
const site = await listen(({ url = "", headers }, response) => {
  const [path = "", query] = url.split("?");
  const attributes = { "http.target": url, query };
  sentry.continueTrace({ sentryTrace: headers["sentry-trace"] as string, baggage: headers.baggage }, () =>
    sentry.startSpan({ name: `GET ${path}`, attributes, forceTransaction: true }, (span) => {
      response.setHeader("x-span", sentry.spanToTraceHeader(span));
      for (const [name, value] of Object.entries(JSON.parse(headers.answer as string)))
        response.setHeader(name, value as string);
      response.statusCode = headers["if-none-match"] ? 304 : path.endsWith("missing") ? 404 : 200;
      response.appendHeader("Server-Timing", "db;dur=1").end();
    }),
  );
});

const navigation = { accept: "text/html,*/*;q=0.8" };
async function get(answer: object, headers: object = navigation, path = "/shop/page") {
  const response = await fetch(site.url + path, { headers: { answer: JSON.stringify(answer), ...headers } });
  const timing = response.headers.get("server-timing") ?? "";
  const metrics = [...timing.matchAll(/([\w-]+);desc="([^"]*)"/g)].map(([, name, text]) => [name, text]);
  return { span: response.headers.get("x-span"), timing, metrics: Object.fromEntries(metrics) };
}
const document = { ...page, "cache-control": PRIVATE };

test("a page carries the trace of the span that served it, beside the app's metrics, in 400 bytes", async () => {
  const { span, timing, metrics } = await get(document);
  expect(span).toMatch(/^[0-9a-f]{32}-[0-9a-f]{16}-1$/);
  expect(metrics["sentry-trace"]).toBe(span);
  expect(metrics.baggage).toContain(`sentry-trace_id=${span?.slice(0, 32)},`);
  expect(timing).toMatch(/^db;dur=1, sentry-trace;desc="[^"]*", baggage;desc="[^"]*"$/);
  expect(timing.length).toBeLessThan(400);
});

test.each<[what: string, path: string]>([
  ["a health check", "/shop/healthz"],
  ["a page for which the rate is 0", "/shop/page?rate=0"],
  ["a missing page", "/shop/missing"],
])("%s, whose trace the server never sends, carries none: the browser decides", async (_, path) => {
  expect((await get(document, navigation, path)).timing).toBe("db;dur=1");
});

test("the trace of another site goes on, but only Sentry's members of its baggage", async () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const baggage = `evil=%22;desc=x,sentry-trace_id=${trace},sentry-public_key=k,sentry-sampled=true,sentry-sample_rate=1`;
  const { metrics } = await get(document, { ...navigation, "sentry-trace": `${trace}-00f067aa0ba902b7-1`, baggage });
  expect(metrics["sentry-trace"]).toMatch(new RegExp(`^${trace}-(?!00f067aa0ba902b7).{16}-1$`));
  expect(metrics.baggage).toContain("sentry-public_key=k");
  expect(metrics.baggage).not.toContain("evil");
});

test.each<[what: string, answer: object, headers: object]>([
  ["data", { ...document, "content-type": "application/json" }, navigation],
  ["a page for a script or a service worker", document, { accept: "*/*" }],
  ["a page that is prefetched", document, { ...navigation, "sec-purpose": "prefetch;prerender" }],
  ["a redirect", { location: "/", "cache-control": PRIVATE }, navigation],
])("%s carries no trace", async (_, answer, headers) => {
  expect((await get(answer, headers)).timing).toBe("db;dur=1");
});

const NO_CACHE = { ...navigation, "x-shared-cache": "0" };
test.each<[rule: string, isStored: boolean]>([
  ["public, s-maxage=60", true],
  ["no-cache", true],
  ['private="set-cookie", max-age=60', true],
  ["x-private", true],
  ["", true],
  [PRIVATE, false],
  ["No-Store", false],
  ["max-age=60,private", false],
])("a cache in front may store a page with %j: %s", async (rule, isStored) => {
  const answer = { ...page, ...(rule && { "cache-control": rule }) };
  for (const headers of [navigation, { ...navigation, "x-shared-cache": "1" }])
    expect("sentry-trace" in (await get(answer, headers)).metrics).toBe(!isStored);
  expect("sentry-trace" in (await get(answer, NO_CACHE)).metrics).toBe(true);
});

test("what an app tells CDNs only counts, too", async () => {
  for (const name of ["cdn-cache-control", "Cloudflare-CDN-Cache-Control", "surrogate-control"])
    expect((await get({ ...document, [name]: "max-age=60" })).timing).toBe("db;dur=1");
});

test("a 304 carries the trace of its own request", async () => {
  const { span, metrics } = await get({ "cache-control": "s-maxage=60" }, { ...NO_CACHE, "if-none-match": '"1"' });
  expect(metrics["sentry-trace"]).toBe(span);
});
