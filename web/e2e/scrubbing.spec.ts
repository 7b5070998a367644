import { arrived, isFromBrowser, of } from "./envelopes.ts";
import { expect, test, traceOf } from "./fixtures.ts";
import { app } from "./stack.ts";

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
  const transaction = await arrived("transaction", (one) => of(trace)(one) && isFromBrowser(one));
  const { payload } = event.item;
  expect(payload.exception.values[0].value).toBe('no account for [email]: {"apiKey":"[Filtered]"}');
  expect(payload.request.url).toContain("access_token=[Filtered]&tab=2");
  const breadcrumbs = payload.breadcrumbs.map(({ message }: { message?: string }) => message);
  expect(breadcrumbs).toContain('said {"password":"[Filtered]"} to [email]');
  for (const { envelope } of [event, transaction])
    expect(Buffer.from(envelope.request.body, "base64").toString()).not.toMatch(/topsecret|jo\.doe/);
});
