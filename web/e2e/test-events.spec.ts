import { arrived, isFromBrowser, messageOf, of, received, traceIdOf } from "./envelopes.ts";
import { expect, outcomeOf, test, traceOf } from "./fixtures.ts";
import { app, recorder } from "./stack.ts";

test("an unhandled rejection is reported", async ({ page, watch }) => {
  watch.expectConsoleError(/Rejected on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Reject a promise" }).click();
  expect(messageOf(await arrived("event", of(trace)))).toContain("Rejected on purpose");
  await expect(outcomeOf(page, "Reject a promise")).toContainText("Taken");
});

test("noise is not sent, and the page says why", async ({ page, watch }) => {
  watch.expectConsoleError(/Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Make noise" }).click();
  await expect(outcomeOf(page, "Make noise")).toHaveText(
    "Not sent: the browser laid out in two passes; nothing failed.",
  );
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText("dropped");
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of(trace));
  expect((await received("event", of(trace))).map(messageOf)).toEqual([expect.stringContaining("Thrown on purpose")]);
});

test("an oversized event is refused by the proxy, and what follows is not", async ({ page, watch }) => {
  watch.expectConsoleError(/status of 413|Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Send 21 MB" }).click();
  await expect(outcomeOf(page, "Send 21 MB")).toContainText("Refused with 413");
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of(trace));
  expect((await received("event", of(trace))).map(messageOf)).toEqual([expect.stringContaining("Thrown on purpose")]);
});

test("a log line is sent, in the page's trace", async ({ page }) => {
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Write a log line" }).click();
  const log = await arrived("log", ({ item }) => item.payload.items?.[0]?.trace_id === trace);
  expect(log.item.payload.items[0].body).toBe("Written on purpose in the browser");
  await expect(outcomeOf(page, "Write a log line")).toContainText("Taken");
});

test("a slow response to a click is measured, and reported when the page is left", async ({ page }) => {
  await page.goto("/test-events");
  const trace = await traceOf(page);
  const pageload = await arrived("transaction", (report) => traceIdOf(report) === trace && isFromBrowser(report));
  expect(pageload.item.payload.measurements).toHaveProperty("ttfb");
  const measured = await page.evaluateHandle(() => {
    const events: PerformanceEntry[] = [];
    // The SDK's own, which is there for longer, is told first.
    new PerformanceObserver((list) => events.push(...list.getEntries())).observe({ type: "event" });
    return events;
  });
  await page.getByRole("button", { name: "Be slow to respond" }).click();
  await expect.poll(() => measured.evaluate((events) => events.length)).toBeGreaterThan(0);
  await page.goto("about:blank");
  const vital = await arrived("span", ({ item }) => item.payload.trace_id === trace && item.payload.measurements?.inp);
  expect(vital.item.payload.measurements.inp.value).toBeGreaterThanOrEqual(600);
  expect(vital.item.payload.op).toBe("ui.interaction.click");
});

test("a policy violation is blocked, and reported through the tunnel", async ({ page, watch }) => {
  watch.expectConsoleError(/Content Security Policy/);
  await page.goto("/test-events");
  await page.getByRole("button", { name: "Break the policy" }).click();
  await expect(outcomeOf(page, "Break the policy")).toHaveText("Blocked: style-src-attr.");
  const report = await recorder.waitFor((request) => {
    const body = Buffer.from(request.body, "base64").toString();
    return request.url.includes("/security/") && body.includes("style-src-attr") ? request : undefined;
  });
  expect(report.url).toMatch(/\/api\/1\/security\/\?sentry_key=culvert$/);
  expect(Buffer.from(report.body, "base64").toString()).toContain(`${app.origin}/test-events`);
});

test("a slow action makes one transaction that takes as long", async ({ page }) => {
  await page.goto("/test-events");
  const post = page.waitForResponse(
    (response) => response.request().method() === "POST" && response.url().endsWith("/test-events"),
  );
  await page.getByRole("button", { name: "Take 1.5 seconds" }).click();
  const id = (await post).headers()["x-request-id"];
  await expect(outcomeOf(page, "Take 1.5 seconds")).toHaveText("Took 1.5 s.");
  const { payload } = (
    await arrived(
      "transaction",
      ({ item }) => item.payload.tags?.request_id === id && item.payload.transaction === "POST /test-events",
    )
  ).item;
  expect(payload.timestamp - payload.start_timestamp).toBeGreaterThan(1.4);
});

test("an outgoing call of the server carries the trace of the page that asked for it", async ({ page }) => {
  await page.goto("/test-events");
  const post = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/test-events"));
  await page.getByRole("button", { name: "Call the upstream" }).click();
  const trace = (await (await post).headerValue("sentry-trace"))?.slice(0, 32);
  await expect(outcomeOf(page, "Call the upstream")).toHaveText(`upstream:9000 was sent trace ${trace}.`);
});
