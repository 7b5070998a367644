import { type Blocklists, loadBlocklists } from "./blocklists.ts";
import { arrived, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

// One process for all tests: loading the lists takes seconds.
test.describe.configure({ mode: "default" });

let lists: Blocklists;
test.beforeAll(() => {
  const loaded = loadBlocklists();
  test.skip(!loaded, "needs Debian's package of the uBlock Origin that proxy/README.md names");
  lists = loaded as Blocklists;
});

test("an error arrives from a browser with uBlock Origin's lists, which block none of its requests", async ({
  page,
  context,
  allow,
}) => {
  allow.consoleError(/Thrown on purpose/);
  const requested = new Set<string>();
  const blocked: string[] = [];
  const check = (address: string, type: string) => {
    const { pathname, search } = new URL(address, app.origin);
    requested.add(pathname);
    const rule = lists.rule(pathname + search, type);
    if (rule) blocked.push(`${pathname}${search}: ${rule}`);
    return rule;
  };
  await context.route("**/*", (route) =>
    check(route.request().url(), route.request().resourceType()) ? route.abort("blockedbyclient") : route.continue(),
  );
  for (const path of ["/", "/trace", "/test-events"]) {
    const policy = (await page.goto(path))?.headers()["content-security-policy"] ?? "";
    // The browser sends CSP reports outside the route above.
    const reports = /report-uri (\S+?)(?:;|$)/.exec(policy)?.[1];
    check(reports ?? "no address for CSP reports", "csp_report");
    expect(reports).toBe(`${app.tunnel}/csp`);
  }
  const trace = await traceOf(page);
  await page.getByRole("button", { name: "Throw in the browser" }).click();
  await arrived("event", (event) => of(trace)(event) && isFromBrowser(event));
  expect(blocked).toEqual([]);
  expect([...requested]).toEqual(
    expect.arrayContaining([app.tunnel, expect.stringMatching(/^\/_next\/static\/.+\.js$/)]),
  );
});

// As documented in proxy/README.md.
test("the addresses in the README are blocked or not as documented", () => {
  const arguments_ = "?o=1&p=2&r=us";
  expect(lists.rule("/monitoring", "fetch")).toBeUndefined();
  expect(lists.rule("/monitoring/csp", "csp_report")).toBeUndefined();
  expect(lists.rule(`/monitoring${arguments_}`, "fetch")).toBe("/monitoring?o=$xmlhttprequest");
  expect(lists.rule(`/k7f2a9${arguments_}`, "fetch")).toBeUndefined();
  expect(lists.rule("/1iwdson", "fetch")).toBeUndefined();
  expect(lists.rule("/api/2/envelope/?sentry_key=a", "fetch")).toBe("/?sentry_key=");
});
