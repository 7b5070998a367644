import { isFromBrowser, itemsIn } from "../envelopes.ts";
import { expect, open, test } from "../fixtures.ts";
import { type App, DSN } from "./apps.ts";

/** What holds for any app. `traces` is the type of its SDK's items for traces. To call after the app's own tests. */
export function testAnyApp(get: () => App, traces: "transaction" | "span"): void {
  test("events of an app as Sentry's wizard sets it up arrive, those of both sides with one trace; health checks are not recorded", async ({
    page,
    allow,
  }) => {
    const { origin, base, ingest } = get();
    allow.origin(origin);
    allow.consoleError(/raised on the frontend|status of (?:500|404)/);
    const arrived = (type: string, browser: boolean, text = "") =>
      ingest.waitFor((request) =>
        itemsIn(request, type).find(
          (received) => isFromBrowser(received) === browser && JSON.stringify(received.item).includes(text),
        ),
      );
    await open(page, `${base}/sentry-example-page`);
    await page.getByRole("button", { name: "Throw Sample Error" }).click();
    const { envelope, item } = await arrived("event", true, "raised on the frontend");
    expect(envelope.header.dsn).toBe(DSN);
    await arrived("event", false, "raised on the backend");
    await arrived("replay_recording", true);
    for (const browser of [true, false]) await arrived(traces, browser, item.payload.contexts.trace.trace_id);
    const all = (await ingest.all())
      .flatMap((request) => itemsIn(request, traces))
      .map(({ item }) => JSON.stringify(item));
    expect(all.filter((text) => text.includes("healthz"))).toEqual([]);
  });

  test("deploy/app/Dockerfile builds what the contract asks for", async () => {
    const { checks }: { checks: { check: string; state: string }[] } = JSON.parse(
      await get().type("env COMPOSE_FILE=docker-compose.yml sh deploy/checks/host/check-app.sh --json"),
    );
    const ok = checks.filter(({ state }) => state === "ok").map(({ check }) => check);
    const wanted = ["health", "page", "user", "files", "stop", "next", "build", "static files", "base path"];
    expect(ok).toEqual(expect.arrayContaining([...wanted, "deploymentId"]));
  });

  test("Next can write its files", async () => {
    expect(await get().type("docker compose logs web")).not.toMatch(/EROFS|ENOENT|EACCES|ENOSPC/);
  });
}
