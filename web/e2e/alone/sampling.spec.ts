import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import { freshTrace, messageOf, of, reportsIn } from "../envelopes.ts";
import { expect, test } from "../fixtures.ts";
import { answering, hardened, type Lab, openLab, webImage } from "../test-network.ts";

let lab: Lab;
test.beforeEach(async () => {
  lab = await openLab();
});
test.afterEach(() => lab.close());

/** Starts the app with a rate, and a recorder that is its ingest and its upstream. */
async function startWeb(rate: string) {
  const recorder = await lab.record(["recorder"]);
  const settings = {
    SENTRY_DSN: "http://culvert@recorder:9000/1",
    UPSTREAM_URL: "http://recorder:9000/upstream",
    SENTRY_TRACES_SAMPLE_RATE: rate,
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const web = `http://127.0.0.1:${await lab.run("web", [...hardened, ...env], webImage, 3000)}`;
  await answering(`${web}/healthz`);
  return { recorder, web };
}

const metaOf = (html: string, name: string) =>
  html.match(new RegExp(`<meta name="${name}" content="([^"]+)"`))?.[1] ?? "";

test("with rate 0 a page still hands on one trace, decided against; errors are reported with their request", async () => {
  const { recorder, web } = await startWeb("0");
  const html = await (await fetch(`${web}/trace`)).text();
  const [, trace = "none"] = metaOf(html, "sentry-trace").match(/^([0-9a-f]{32})-[0-9a-f]{16}-0$/) ?? [];
  expect(metaOf(html, "baggage")).toContain(`sentry-trace_id=${trace},sentry-sampled=false,sentry-sample_rand=0.`);
  const call = await recorder.waitFor((request) => (request.url === "/upstream" ? request : undefined));
  expect(headerOf(call, "sentry-trace")).toMatch(new RegExp(`^${trace}-[0-9a-f]{16}-0$`));
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));

  expect((await fetch(`${web}/test-events/server-exception?a=1`)).status).toBe(500);
  const report = await recorder.waitFor((request) => reportsIn(request, "event")[0]);
  expect(messageOf(report)).toContain("Thrown on purpose");
  expect(report.item.payload).toMatchObject({
    transaction: "GET /test-events/server-exception",
    request: { method: "GET", url: `${web}/test-events/server-exception?a=1`, headers: { host: new URL(web).host } },
  });
  expect((await recorder.all()).flatMap((request) => reportsIn(request, "transaction"))).toEqual([]);

  // Whoever began the trace has decided for it.
  const caller = freshTrace();
  const continued = await (await fetch(`${web}/test-events`, { headers: caller.headers })).text();
  expect(metaOf(continued, "sentry-trace")).toMatch(new RegExp(`^${caller.id}-[0-9a-f]{16}-1$`));
  await recorder.waitFor((request) => reportsIn(request, "transaction").find(of(caller.id)));
});

test("with rate 1 a page view whose caller decided against it is not recorded, and hands that on", async () => {
  const { recorder, web } = await startWeb("1");
  const caller = freshTrace();
  const html = await (
    await fetch(`${web}/test-events`, {
      headers: { "sentry-trace": caller.headers["sentry-trace"].replace(/1$/, "0") },
    })
  ).text();
  expect(metaOf(html, "sentry-trace")).toMatch(new RegExp(`^${caller.id}-[0-9a-f]{16}-0$`));
  const later = freshTrace();
  await fetch(`${web}/test-events`, { headers: later.headers });
  await recorder.waitFor((request) => reportsIn(request, "transaction").find(of(later.id)));
  // Told to stop, it sends all that it has.
  await lab.on("web", "stop", "-t", "15");
  const transactions = (await recorder.all()).flatMap((request) => reportsIn(request, "transaction"));
  expect(transactions.filter(of(caller.id))).toEqual([]);
});

test("with rate 0.3 about a third of the page views are recorded, and each hands on what was drawn", async () => {
  const { recorder, web } = await startWeb("0.3");
  const traces: string[] = [];
  for (let i = 0; i < 100; i++) {
    const html = await (await fetch(`${web}/test-events`)).text();
    const baggage = metaOf(html, "baggage");
    const [, rand = "1"] = baggage.match(/sentry-sample_rand=([\d.e-]+)/) ?? [];
    const recorded = metaOf(html, "sentry-trace").endsWith("-1");
    expect(baggage).toContain("sentry-sample_rate=0.3");
    expect(baggage).toContain(`sentry-sampled=${recorded}`);
    expect(Number(rand) < 0.3).toBe(recorded);
    if (recorded) traces.push(metaOf(html, "sentry-trace").slice(0, 32));
  }
  // Wider than chance ever reaches: fewer than 1 run in a million is outside.
  expect(traces.length).toBeGreaterThan(8);
  expect(traces.length).toBeLessThan(55);
  for (const trace of traces) {
    await recorder.waitFor((request) =>
      reportsIn(request, "transaction").find(({ item }) => item.payload.contexts.trace.trace_id === trace),
    );
  }
});
