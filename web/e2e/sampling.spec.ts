import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { freshTrace, itemsIn, messageOf, of } from "./envelopes.ts";
import { expect, test } from "./fixtures.ts";
import { createTestNetwork, hardened, type TestNetwork, waitUntilUp, webImage } from "./test-network.ts";

let network: TestNetwork;
test.beforeEach(async () => {
  network = await createTestNetwork();
});
test.afterEach(() => network.close());

/** Starts the app with a sample rate, and a recorder as its ingest and upstream. */
async function startWeb(rate: string) {
  const recorder = await network.startRecorder(["recorder"]);
  const settings = {
    SENTRY_DSN: "http://culvert@recorder:9000/1",
    UPSTREAM_URL: "http://recorder:9000/upstream",
    SENTRY_TRACES_SAMPLE_RATE: rate,
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const web = `http://127.0.0.1:${await network.run("web", [...hardened, ...env, webImage], 3000)}`;
  await waitUntilUp(`${web}/healthz`);
  return { recorder, web };
}

const metaOf = (html: string, name: string) =>
  html.match(new RegExp(`<meta name="${name}" content="([^"]+)"`))?.[1] ?? "";

test("with rate 0 a page still propagates one trace with a negative decision; errors are sent with their request", async () => {
  const { recorder, web } = await startWeb("0");
  // Again, because the page gives up its call after a while on a busy machine.
  await expect(async () => {
    const html = await (await fetch(`${web}/trace`)).text();
    const [, trace = "none"] = metaOf(html, "sentry-trace").match(/^([0-9a-f]{32})-[0-9a-f]{16}-0$/) ?? [];
    expect(metaOf(html, "baggage")).toContain(`sentry-trace_id=${trace},sentry-sampled=false,sentry-sample_rand=0.`);
    const calls = (await recorder.all()).filter(({ url }) => url === "/upstream");
    const call = calls.find((one) => headerOf(one, "sentry-trace")?.startsWith(`${trace}-`));
    expect(call && headerOf(call, "sentry-trace")).toMatch(/-[0-9a-f]{16}-0$/);
    expect(call && headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
  }).toPass({ timeout: 360_000 });

  expect((await fetch(`${web}/test-events/server-exception?a=1`)).status).toBe(500);
  const event = await recorder.waitFor((request) => itemsIn(request, "event")[0]);
  expect(messageOf(event)).toContain("Thrown on purpose");
  expect(event.item.payload).toMatchObject({
    transaction: "GET /test-events/server-exception",
    request: { method: "GET", url: `${web}/test-events/server-exception?a=1`, headers: { host: new URL(web).host } },
  });
  expect((await recorder.all()).flatMap((request) => itemsIn(request, "transaction"))).toEqual([]);

  // The caller's decision applies to its trace.
  const caller = freshTrace();
  const continued = await (await fetch(`${web}/test-events`, { headers: caller.headers })).text();
  expect(metaOf(continued, "sentry-trace")).toMatch(new RegExp(`^${caller.id}-[0-9a-f]{16}-1$`));
  await recorder.waitFor((request) => itemsIn(request, "transaction").find(of(caller.id)));
});

test("with rate 1 a page view with a caller's negative decision is not recorded, and propagates that decision", async () => {
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
  await recorder.waitFor((request) => itemsIn(request, "transaction").find(of(later.id)));
  // On SIGTERM it sends all buffered events.
  await network.on("web", "stop", "-t", "15");
  const transactions = (await recorder.all()).flatMap((request) => itemsIn(request, "transaction"));
  expect(transactions.filter(of(caller.id))).toEqual([]);
});
