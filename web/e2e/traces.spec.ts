import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { arrived, isFromBrowser, traceIdOf } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app, upstream } from "./stack.ts";

test("page, browser, server and the server's outgoing calls have one trace", async ({ page, allow }) => {
  allow.consoleError(/Thrown on purpose/);
  await page.goto("/trace");
  const trace = await traceOf(page);

  const call = await upstream.waitFor((request) =>
    request.url === "/upstream" && headerOf(request, "sentry-trace")?.startsWith(trace) ? request : undefined,
  );
  expect(headerOf(call, "baggage")).toContain(`sentry-trace_id=${trace}`);
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  await arrived("transaction", (transaction) => traceIdOf(transaction) === trace && isFromBrowser(transaction));
  const server = await arrived(
    "transaction",
    (transaction) => traceIdOf(transaction) === trace && !isFromBrowser(transaction),
  );
  expect(server.item.payload.transaction).toBe("GET /trace");
  await expect(page.getByRole("status", { name: "Trace status" })).toContainText("One trace");
});

for (const path of ["/", "/test-events", "/trace", "/no-such-page"]) {
  test(`two page views of ${path} never share a trace`, async ({ page, browser, allow }) => {
    if (path === "/no-such-page") allow.consoleError(/status of 404/);
    const response = await page.goto(path);
    const other = await browser.newPage({ baseURL: app.origin, ignoreHTTPSErrors: true });
    await other.goto(path);
    expect(await traceOf(page)).toMatch(/^[0-9a-f]{32}$/);
    expect(await traceOf(other)).not.toBe(await traceOf(page));
    await other.close();
    expect(response?.status()).toBe(path === "/no-such-page" ? 404 : 200);
  });
}
