import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import { messageOf, type Report, reportsIn } from "../envelopes.ts";
import { open } from "../fixtures.ts";
import { expect, test } from "./apps.ts";
import { DSN, HOST, PROJECT } from "./saas.ts";

const from = (browser: boolean) => (report: Report) =>
  (headerOf(report.envelope.request, "user-agent")?.includes("Chrom") ?? false) === browser;

test("an app as Sentry's wizard writes it runs behind the proxy, and its reports arrive", async ({
  page,
  watch,
  apps,
}) => {
  const { origin, ingest } = apps.wizard;
  const arrived = (type: string, matches: (report: Report) => boolean) =>
    ingest.waitFor((request) => reportsIn(request, type).find(matches), 0, 30_000);
  watch.expectOrigin(origin);
  watch.expectConsoleError(/raised on the frontend|status of (?:500|404)/);
  await page.context().addCookies([{ name: "session", value: "topsecret", url: origin }]);
  const isThrown = (report: Report) => from(true)(report) && messageOf(report).includes("frontend");
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

  const raised = await arrived("event", (report) => from(false)(report) && messageOf(report).includes("backend"));
  expect(raised.item.payload.contexts.trace.trace_id).toBe(thrown.item.payload.contexts.trace.trace_id);
  await arrived("transaction", from(true));
  await arrived("replay_recording", from(true));
});
