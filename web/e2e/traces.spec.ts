import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { arrived, freshTrace, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app, upstream } from "./stack.ts";

/** Waits for web's call of its upstream in this trace, and expects both formats of its headers. */
async function expectUpstreamCall(trace: string): Promise<void> {
  const call = await upstream.waitFor((request) =>
    request.url === "/upstream" && headerOf(request, "sentry-trace")?.startsWith(trace) ? request : undefined,
  );
  expect(headerOf(call, "baggage")).toContain(`sentry-trace_id=${trace}`);
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
}

test("page, browser, server and the server's outgoing calls have one trace", async ({ page }) => {
  await page.goto("/trace");
  const trace = await traceOf(page);
  await expectUpstreamCall(trace);
  await arrived("transaction", (transaction) => of(trace)(transaction) && isFromBrowser(transaction));
  const server = await arrived("transaction", (transaction) => of(trace)(transaction) && !isFromBrowser(transaction));
  expect(server.item.payload.transaction).toBe("GET /trace");
  await expect(page.getByRole("status", { name: "Trace status" })).toContainText("One trace");
});

test("two page views never share a trace", async ({ page, allow }) => {
  allow.consoleError(/status of 404/);
  const traces = new Set<string>();
  for (const path of ["/", "/test-events", "/trace", "/no-such-page"])
    for (let view = 0; view < 2; view++) {
      await page.goto(path);
      traces.add(await traceOf(page));
    }
  expect([...traces]).toEqual(Array(8).fill(expect.stringMatching(/^[0-9a-f]{32}$/)));
});

test.describe("trace headers from the browser", () => {
  test.use({ bypassCSP: true });

  test("go to the app's own origin, and to no other host", async ({ page, allow }) => {
    const foreign = app.origin.replace("localhost", "127.0.0.1");
    allow.origin(foreign);
    allow.consoleError(/CORS|ERR_FAILED/);
    await page.goto("/trace");
    for (const origin of [app.origin, foreign]) {
      const url = `${origin}/api/echo`;
      const request = page.waitForRequest((one) => one.url() === url && one.method() === "GET");
      await page.evaluate((url) => fetch(url).catch(() => undefined), url);
      const sent = await (await request).allHeaders();
      const names = ["sentry-trace", "baggage", "traceparent"];
      expect(names.filter((name) => name in sent)).toEqual(origin === app.origin ? names : []);
    }
  });
});

test("a pasted trace is continued in the server's outgoing call", async ({ page }) => {
  const { id } = freshTrace();
  await page.goto("/trace");
  await page.getByRole("textbox").fill(`00-${id}-${id.slice(16)}-01`);
  await page.getByRole("button", { name: "Continue it" }).click();
  await expect(page.getByRole("status", { name: "Pasted trace" })).toContainText(`Continued: ${id}-`);
  await expectUpstreamCall(id);
});
