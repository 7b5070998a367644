import { headerOf } from "../../../deploy/test/support/recorder/client.ts";
import { isFromBrowser, itemsIn, messageOf, type ReceivedItem } from "../envelopes.ts";
import { open } from "../fixtures.ts";
import { expect, test } from "./apps.ts";
import { dsnOf, HOST, PROJECTS } from "./sentry-host.ts";

const from = (browser: boolean) => (received: ReceivedItem) => isFromBrowser(received) === browser;

for (const { sdk, name, app, base, traces } of [
  { sdk: 10, name: "wizard", app: "wizard", base: "", traces: "transaction" },
  { sdk: 11, name: "app-router", app: "appRouter", base: "/shop", traces: "span" },
] as const) {
  test(`an app as Sentry's wizard sets it up works behind the proxy, and its events arrive: SDK ${sdk}`, async ({
    page,
    allow,
    apps,
  }) => {
    const { origin } = apps[app];
    const mark = await apps.ingest.count();
    const arrived = (type: string, matches: (received: ReceivedItem) => boolean) =>
      apps.ingest.waitFor((request) => itemsIn(request, type).find(matches), mark);
    allow.origin(origin);
    allow.consoleError(/raised on the frontend|status of (?:500|404)/);
    await page.context().addCookies([{ name: "session", value: "topsecret", url: origin }]);
    const isThrown = (event: ReceivedItem) => from(true)(event) && messageOf(event).includes("frontend");
    await open(page, `${origin}${base}/sentry-example-page`);
    await page.getByRole("button", { name: "Throw Sample Error" }).click();
    const thrown = await arrived("event", isThrown);

    expect(thrown.envelope.request).toMatchObject({
      method: "POST",
      url: expect.stringContaining(`/api/${PROJECTS[name]}/envelope/`),
    });
    expect(headerOf(thrown.envelope.request, "host")).toBe(HOST);
    expect(headerOf(thrown.envelope.request, "cookie")).toBeUndefined();
    expect(thrown.envelope.header.dsn).toBe(dsnOf(name));

    const raised = await arrived("event", (event) => from(false)(event) && messageOf(event).includes("backend"));
    expect(raised.item.payload.contexts.trace.trace_id).toBe(thrown.item.payload.contexts.trace.trace_id);
    await arrived(traces, from(true));
    await arrived("replay_recording", from(true));
  });

  test(`health checks are not recorded: SDK ${sdk}`, async ({ apps, request }) => {
    /** The server's traces that began since the test did. */
    const began = Date.now() / 1000;
    const recorded = async () =>
      (await apps.ingest.all())
        .filter(({ url }) => url.includes(`/api/${PROJECTS[name]}/`))
        .flatMap((received) => itemsIn(received, traces))
        .filter(from(false))
        .flatMap(
          ({ item: { payload } }) => payload.items ?? [{ ...payload, trace_id: payload.contexts?.trace?.trace_id }],
        )
        .filter((span: { start_timestamp: number }) => span.start_timestamp >= began)
        .map((span: { trace_id: string }) => span.trace_id);
    for (let i = 0; i < 3; i++) await apps[app].check();
    // The first page's traces may arrive together with those of the checks.
    const mine: string[] = [];
    for (let i = 0; i < 2; i++) {
      const id = crypto.randomUUID().replaceAll("-", "");
      mine.push(id);
      await request.get(`${apps[app].origin}${base}/sentry-example-page`, {
        headers: { "sentry-trace": `${id}-${id.slice(16)}-1` },
      });
      await expect.poll(recorded).toContain(id);
    }
    expect([...new Set(await recorded())].sort()).toEqual(mine.sort());
  });
}
