import { arrived, messageOf, received, traceIdOf } from "./reports.ts";
import { expect, test } from "./visitor.ts";

/** A request that starts its trace here, so that everything it causes can be told from other tests' reports. */
function freshTrace() {
  const id = crypto.randomUUID().replaceAll("-", "");
  return { id, headers: { "sentry-trace": `${id}-${id.slice(16)}-1` } };
}

test("an exception on the server is reported once and the page shows its digest, not its message", async ({
  page,
  watch,
}) => {
  watch.expectConsoleError(/status of 500/);
  watch.expectConsoleError(/Minified React error #441/);
  const trace = freshTrace();
  await page.setExtraHTTPHeaders(trace.headers);

  const response = await page.goto("/signals/server-exception");

  expect(response?.status()).toBe(500);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(
    "Application error: a server-side exception has occurred",
  );
  const digest = (await page.getByText(/^Digest: /).textContent())?.slice("Digest: ".length);
  expect(digest).toMatch(/^\d+$/);
  expect(await page.content()).not.toContain("Thrown on purpose");

  const mine = (event: Parameters<typeof messageOf>[0]) => traceIdOf(event) === trace.id;
  const report = await arrived("event", mine);
  expect(messageOf(report)).toContain("Thrown on purpose");
  await arrived("transaction", mine);
  expect(await received("event", mine)).toHaveLength(1);
});

for (const [what, path, status] of [
  ["a redirect", "/signals/redirect", 307],
  ["a missing page", "/no-such-page", 404],
  ["a missing API route", "/api/no-such-route", 404],
] as const) {
  test(`${what} is not reported as an error`, async ({ request }) => {
    const trace = freshTrace();
    const before = await request.get(path, { headers: trace.headers, maxRedirects: 0 });
    expect(before.status()).toBe(status);
    // What the server had to say of that request is sent before it says anything of a later one.
    const later = freshTrace();
    await request.get("/signals/server-exception", { headers: later.headers });
    await arrived("event", (event) => traceIdOf(event) === later.id);
    expect(await received("event", (event) => traceIdOf(event) === trace.id)).toEqual([]);
  });
}
