import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import { itemsIn, messageOf, type ReceivedItem } from "../envelopes.ts";
import { open } from "../fixtures.ts";
import { expect, test } from "./apps.ts";
import { DSN, HOST, PROJECT } from "./sentry-host.ts";

const from = (browser: boolean) => (received: ReceivedItem) =>
  (headerOf(received.envelope.request, "user-agent")?.includes("Chrom") ?? false) === browser;

test("an app as Sentry's wizard sets it up works behind the proxy, and its events arrive", async ({
  page,
  allow,
  apps,
}) => {
  const { origin, ingest } = apps.wizard;
  const arrived = (type: string, matches: (received: ReceivedItem) => boolean) =>
    ingest.waitFor((request) => itemsIn(request, type).find(matches), 0, 30_000);
  allow.origin(origin);
  allow.consoleError(/raised on the frontend|status of (?:500|404)/);
  await page.context().addCookies([{ name: "session", value: "topsecret", url: origin }]);
  const isThrown = (event: ReceivedItem) => from(true)(event) && messageOf(event).includes("frontend");
  await open(page, `${origin}/sentry-example-page`);
  await page.getByRole("button", { name: "Throw Sample Error" }).click();
  const thrown = await arrived("event", isThrown);

  expect(thrown.envelope.request).toMatchObject({
    method: "POST",
    url: expect.stringContaining(`/api/${PROJECT}/envelope/`),
  });
  expect(headerOf(thrown.envelope.request, "host")).toBe(HOST);
  expect(headerOf(thrown.envelope.request, "cookie")).toBeUndefined();
  expect(thrown.envelope.header.dsn).toBe(DSN);

  const raised = await arrived("event", (event) => from(false)(event) && messageOf(event).includes("backend"));
  expect(raised.item.payload.contexts.trace.trace_id).toBe(thrown.item.payload.contexts.trace.trace_id);
  await arrived("transaction", from(true));
  await arrived("replay_recording", from(true));
});
