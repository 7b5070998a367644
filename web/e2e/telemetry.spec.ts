import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { arrived, freshTrace, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app, recorder, upstream } from "./stack.ts";

test("events of the browser contain no secrets and no e-mail addresses", async ({ page, context, allow }) => {
  allow.consoleError(/no account/);
  await context.addCookies([{ name: "cart", value: "topsecret", url: app.origin }]);
  await page.goto("/test-events?access_token=topsecret&tab=2");
  const trace = await traceOf(page);
  await page.evaluate(async () => {
    // Causes breadcrumbs and a span.
    console.info('said {"password":"topsecret"} to jo.doe@example.com');
    await fetch("/api/echo?token=topsecret", { headers: { authorization: "Bearer topsecret" } });
    setTimeout(() => {
      throw new Error('no account for jo.doe@example.com: {"apiKey":"topsecret"}');
    });
  });
  const event = await arrived("event", of(trace));
  const transaction = await arrived(
    "transaction",
    (transaction) => of(trace)(transaction) && isFromBrowser(transaction),
  );
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

test("health checks are not traced, even if the caller sampled them", async ({ request }) => {
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

  test("go to the app's own origin, and to no other host", async ({ page, allow }) => {
    const foreign = app.origin.replace("localhost", "127.0.0.1");
    allow.origin(foreign);
    allow.consoleError(/CORS|ERR_FAILED/);
    await page.goto("/trace");
    const requestTo = (url: string) =>
      page.waitForRequest((request) => request.url() === url && request.method() === "GET");
    for (const origin of [app.origin, foreign]) {
      const request = requestTo(`${origin}/api/echo`);
      await page.evaluate((url) => fetch(url).catch(() => undefined), `${origin}/api/echo`);
      const names = Object.keys(await (await request).allHeaders());
      const present = names.filter((name) => ["sentry-trace", "baggage", "traceparent"].includes(name));
      expect(present, origin).toEqual(
        origin === app.origin ? expect.arrayContaining(["sentry-trace", "baggage", "traceparent"]) : [],
      );
    }
  });
});

test("a pasted trace is continued in the server's outgoing call", async ({ page }) => {
  const trace = freshTrace();
  await page.goto("/trace");
  await page.getByRole("textbox").fill(`00-${trace.id}-${trace.id.slice(16)}-01`);
  await page.getByRole("button", { name: "Continue it" }).click();
  await expect(page.getByRole("status", { name: "Pasted trace" })).toContainText(`Continued: ${trace.id}-`);
  const call = await upstream.waitFor((request) =>
    request.url === "/upstream" && headerOf(request, "sentry-trace")?.startsWith(trace.id) ? request : undefined,
  );
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace.id}-[0-9a-f]{16}-01$`));
});

test("a pasted text that is not a trace header is rejected", async ({ page }) => {
  await page.goto("/trace?header=nonsense");
  await expect(page.getByRole("main").getByRole("alert")).toContainText("This is not a valid header.");
});
