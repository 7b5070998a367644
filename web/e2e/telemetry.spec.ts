import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { arrived, freshTrace, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app, recorder, upstream } from "./stack.ts";

test("what a browser reports is free of secrets and addresses of people", async ({ page, context, watch }) => {
  watch.expectConsoleError(/no account/);
  await context.addCookies([{ name: "cart", value: "topsecret", url: app.origin }]);
  await page.goto("/test-events?access_token=topsecret&tab=2");
  const trace = await traceOf(page);
  await page.evaluate(async () => {
    // Breadcrumbs and, of the call, a span.
    console.info('said {"password":"topsecret"} to jo.doe@example.com');
    await fetch("/api/echo?token=topsecret", { headers: { authorization: "Bearer topsecret" } });
    setTimeout(() => {
      throw new Error('no account for jo.doe@example.com: {"apiKey":"topsecret"}');
    });
  });
  const event = await arrived("event", of(trace));
  const transaction = await arrived("transaction", (report) => of(trace)(report) && isFromBrowser(report));
  const { payload } = event.item;
  expect(payload.exception.values[0].value).toBe('no account for [email]: {"apiKey":"[Filtered]"}');
  expect(payload.request.url).toContain("access_token=[Filtered]&tab=2");
  expect(payload.breadcrumbs.map(({ message }: { message?: string }) => message)).toContain(
    'said {"password":"[Filtered]"} to [email]',
  );
  for (const { envelope } of [event, transaction]) {
    expect(Buffer.from(envelope.request.body, "base64").toString()).not.toMatch(/topsecret|jo\.doe/);
  }
});

test("what the server reports is free of cookies, credentials and secret query values", async ({ request }) => {
  const trace = freshTrace();
  const headers = {
    ...trace.headers,
    // Names that the SDK itself would let pass.
    cookie: "cart=topsecret",
    authorization: "Bearer topsecret",
    "x-api-key": "topsecret",
    "x-hub-signature": "topsecret",
  };
  await request.get("/test-events/server-exception?password=topsecret&tab=2", { headers });
  const event = await arrived("event", of(trace.id));
  const transaction = await arrived("transaction", of(trace.id));
  for (const { payload } of [event.item, transaction.item]) expect(JSON.stringify(payload)).not.toContain("topsecret");
});

test("event and transaction of one request bear its id, the one in the proxy's answer", async ({ request }) => {
  const trace = freshTrace();
  const response = await request.get("/test-events/server-exception", { headers: trace.headers });
  const tags = { request_id: response.headers()["x-request-id"], region: "test-1" };
  expect((await arrived("event", of(trace.id))).item.payload.tags).toMatchObject(tags);
  expect((await arrived("transaction", of(trace.id))).item.payload.tags).toMatchObject(tags);
});

test("probes are not traced, whatever the caller decided", async ({ request }) => {
  const trace = freshTrace();
  for (const path of ["/healthz", "/readyz"]) {
    const response = await request.get(path, { headers: trace.headers });
    expect(response.status()).toBe(200);
  }
  const later = freshTrace();
  await request.get("/trace", { headers: later.headers });
  await arrived("transaction", of(later.id));
  const traced = (await recorder.all()).filter((sent) => Buffer.from(sent.body, "base64").includes(trace.id));
  expect(traced).toEqual([]);
});

test.describe("trace headers from the browser", () => {
  test.use({ bypassCSP: true });

  test("go to the own origin, and to no other host", async ({ page, watch }) => {
    const foreign = app.origin.replace("localhost", "127.0.0.1");
    watch.expectOrigin(foreign);
    watch.expectConsoleError(/CORS|ERR_FAILED/);
    await page.goto("/trace");
    const asked = (url: string) =>
      page.waitForRequest((request) => request.url() === url && request.method() === "GET");
    for (const origin of [app.origin, foreign]) {
      const request = asked(`${origin}/api/echo`);
      await page.evaluate((url) => fetch(url).catch(() => undefined), `${origin}/api/echo`);
      const names = Object.keys(await (await request).allHeaders());
      const carried = names.filter((name) => ["sentry-trace", "baggage", "traceparent"].includes(name));
      expect(carried, origin).toEqual(
        origin === app.origin ? expect.arrayContaining(["sentry-trace", "baggage", "traceparent"]) : [],
      );
    }
  });
});

test("a pasted trace goes on in the server's outgoing call", async ({ page }) => {
  const trace = freshTrace();
  await page.goto("/trace");
  await page.getByRole("textbox").fill(`00-${trace.id}-${trace.id.slice(16)}-01`);
  await page.getByRole("button", { name: "Follow it" }).click();
  await expect(page.getByRole("status", { name: "Pasted trace" })).toContainText(`It goes on: ${trace.id}-`);
  const call = await upstream.waitFor((request) =>
    request.url === "/upstream" && headerOf(request, "sentry-trace")?.startsWith(trace.id) ? request : undefined,
  );
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace.id}-[0-9a-f]{16}-01$`));
});

test("a pasted text that is no trace is said to be none", async ({ page }) => {
  await page.goto("/trace?header=nonsense");
  await expect(page.getByRole("main").getByRole("alert")).toContainText("That is neither header.");
});

test("after a navigation in the browser, the trace page tells the document's trace from its own", async ({ page }) => {
  await page.goto("/test-events");
  const documentTrace = await traceOf(page);
  await page.getByRole("link", { name: "Trace", exact: true }).click();
  await expect(page.getByRole("status", { name: "Verdict" })).toContainText("One trace on the server");
  const hop = (name: string) => page.getByRole("listitem").filter({ has: page.getByRole("heading", { name }) });
  await expect(hop("In the page")).toContainText("the document you loaded first");
  await expect(hop("In the page")).toContainText(documentTrace);
  await expect(hop("Rendered")).not.toContainText(documentTrace);
});
