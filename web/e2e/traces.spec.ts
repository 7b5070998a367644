import type { Page } from "@playwright/test";
import { headerOf } from "../../deploy/test/support/recorder/client.ts";
import { arrived, freshTrace, isFromBrowser, of, type ReceivedItem } from "./envelopes.ts";
import { expect, open, test, traceOf } from "./fixtures.ts";
import { app, upstream } from "./stack.ts";

async function expectUpstreamCall(trace: string): Promise<void> {
  const call = await upstream.waitFor((request) =>
    request.url === "/upstream" && headerOf(request, "sentry-trace")?.startsWith(trace) ? request : undefined,
  );
  expect(headerOf(call, "baggage")).toContain(`sentry-trace_id=${trace}`);
  expect(headerOf(call, "traceparent")).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
}

const shown = (page: Page, hop: string, term: string) =>
  page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: hop, exact: true }) })
    .locator("dl > div")
    .filter({ has: page.getByText(term, { exact: true }) })
    .locator("dd");

test("page, browser, server and the server's calls have one trace; the trace page shows the page load and its parent", async ({
  page,
}) => {
  await page.goto("/trace");
  await expect(page.getByRole("status", { name: "Trace status" })).toContainText("One trace: browser,");
  const trace = await traceOf(page);
  await expectUpstreamCall(trace);
  await expect(shown(page, "In the browser", "trace id")).toHaveText(trace);
  const load = await arrived("transaction", (transaction) => of(trace)(transaction) && isFromBrowser(transaction));
  const { op, parent_span_id } = load.item.payload.contexts.trace;
  expect(op).toBe("pageload");
  // Prefetched pages have transactions in this trace, too.
  const isParent = ({ item }: ReceivedItem) => item.payload.contexts.trace.span_id === parent_span_id;
  const server = await arrived("transaction", isParent);
  expect([server.item.payload.transaction, of(trace)(server)]).toEqual(["GET /trace", true]);
  await expect(shown(page, "In the browser", "parent span")).toHaveText(parent_span_id);
  await expect(shown(page, "Rendered", "span id")).toHaveText(parent_span_id);
});

test("the trace page says so if the browser did not continue the server's trace", async ({ page }) => {
  await page.route("**/trace", async (route) => {
    const response = await route.fetch();
    const { "server-timing": timing = "", ...headers } = response.headers();
    const others = timing.split(/, *(?=[a-z-]+;desc=)/).filter((metric) => metric.startsWith("culvert;"));
    await route.fulfill({ response, headers: { ...headers, "server-timing": others.join(", ") } });
  });
  await page.goto("/trace");
  await expect(page.getByRole("status", { name: "Trace status" })).toContainText("Broken trace: the browser's SDK");
  const trace = (await shown(page, "In the browser", "trace id").textContent()) ?? "";
  expect(trace).not.toBe(await shown(page, "Rendered", "trace id").textContent());
  await arrived("transaction", (transaction) => of(trace)(transaction) && isFromBrowser(transaction));
});

test("after a navigation, the trace page shows the navigation's trace, which the server continued", async ({
  page,
}) => {
  await open(page, "/test-events");
  const first = await traceOf(page);
  await page.getByRole("link", { name: "Trace", exact: true }).click();
  await expect(page.getByRole("status", { name: "Trace status" })).toContainText("One trace: browser,");
  const trace = await shown(page, "In the browser", "trace id").textContent();
  expect(trace).not.toBe(first);
  await expect(shown(page, "Incoming", "trace id")).toHaveText(trace ?? "");
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
      const request = page.waitForRequest((call) => call.url() === url && call.method() === "GET");
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
