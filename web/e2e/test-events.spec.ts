import { arrived, isFromBrowser, messageOf, of, received, traceIdOf } from "./envelopes.ts";
import { expect, outcomeOf, test, traceOf } from "./fixtures.ts";

test("an unhandled rejection sends an event", async ({ page, allow }) => {
  allow.consoleError(/Rejected on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Reject a promise" }).click();
  expect(messageOf(await arrived("event", of(trace)))).toContain("Rejected on purpose");
  await expect(outcomeOf(page, "Reject a promise")).toContainText("Accepted");
});

test("a filtered error is not sent, and the page shows the reason", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw a filtered error" }).click();
  await expect(outcomeOf(page, "Throw a filtered error")).toHaveText(
    "Not sent: the browser needed two layout passes; nothing failed.",
  );
  await expect(page.getByRole("region", { name: "Table: Sent by this browser" })).toContainText("dropped");
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", of(trace));
  expect((await received("event", of(trace))).map(messageOf)).toEqual([expect.stringContaining("Thrown on purpose")]);
});

test("an oversized event is rejected by the proxy, and the next one accepted", async ({ page, allow }) => {
  allow.consoleError(/status of 413|Thrown on purpose/);
  await page.goto("/test-events");
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Send 21 MB" }).click();
  await expect(outcomeOf(page, "Send 21 MB")).toContainText("Rejected with 413");
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
  await expect(outcomeOf(page, "Write a log line")).toContainText("Accepted");
});

test("a slow response to a click is measured, and sent when the page is left", async ({ page }) => {
  await page.goto("/test-events");
  const trace = await traceOf(page);
  const pageload = await arrived(
    "transaction",
    (transaction) => traceIdOf(transaction) === trace && isFromBrowser(transaction),
  );
  expect(pageload.item.payload.measurements).toHaveProperty("ttfb");
  const measured = await page.evaluateHandle(() => {
    const events: PerformanceEntry[] = [];
    // The SDK's own observer is older, so it is notified first.
    new PerformanceObserver((list) => events.push(...list.getEntries())).observe({ type: "event" });
    return events;
  });
  await page.getByRole("button", { name: "Block the main thread" }).click();
  await expect.poll(() => measured.evaluate((events) => events.length)).toBeGreaterThan(0);
  await page.goto("about:blank");
  const vital = await arrived("span", ({ item }) => item.payload.trace_id === trace && item.payload.measurements?.inp);
  expect(vital.item.payload.measurements.inp.value).toBeGreaterThanOrEqual(600);
  expect(vital.item.payload.op).toBe("ui.interaction.click");
});

test("a slow action sends one transaction of the same duration", async ({ page }) => {
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

test("an outgoing call of the server carries the trace of the page", async ({ page }) => {
  await page.goto("/test-events");
  const post = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/test-events"));
  await page.getByRole("button", { name: "Call the upstream" }).click();
  const trace = (await (await post).headerValue("sentry-trace"))?.slice(0, 32);
  await expect(outcomeOf(page, "Call the upstream")).toHaveText(`upstream:9000 received trace ${trace}.`);
});
