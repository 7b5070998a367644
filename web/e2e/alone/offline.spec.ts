import type { Page } from "@playwright/test";
import { itemsIn, messageOf, of, type ReceivedItem } from "../envelopes.ts";
import { expect, openTestEvents, outcomeOf, test, traceOf } from "../fixtures.ts";
import { must, recorder } from "../stack.ts";

const THROW = "Throw in the browser";

test.beforeEach(({ allow }) => allow.consoleError(/Thrown on purpose|Failed to (?:load resource|fetch)/));
test.afterEach(startProxy);

async function startProxy() {
  await must("docker compose start proxy");
  await expect(() => must("docker compose exec -T proxy curl -fsS http://127.0.0.1:8081/readyz")).toPass();
}

async function throwAndQueue(page: Page): Promise<string> {
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toContainText("queued in this browser, which sends it later");
  await expect.poll(() => queued(page), "envelopes in IndexedDB").toBeGreaterThan(0);
  return traceOf(page);
}

const queued = (page: Page) =>
  page.evaluate(async () => {
    const settled = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve) => request.addEventListener("success", () => resolve(request.result)));
    const database = await settled(indexedDB.open("sentry-offline"));
    const count = await settled(database.transaction("queue").objectStore("queue").count());
    database.close();
    return count;
  });

/** Waits for the thrown error of this trace in requests after `mark`, and until the browser's queue is empty. */
async function arrivesOnce(page: Page, trace: string, mark: number, since: number): Promise<void> {
  const isThrown = (event: ReceivedItem) => of(trace)(event) && messageOf(event).includes("Thrown on purpose");
  const { envelope } = await recorder.waitFor((request) => itemsIn(request, "event").find(isThrown), mark);
  const { sent_at } = envelope.header as { sent_at?: string };
  expect(Date.parse(sent_at ?? ""), "sent_at is the time of sending").toBeGreaterThanOrEqual(since);
  await expect.poll(() => queued(page)).toBe(0);
  const all = (await recorder.all(mark)).flatMap((request) => itemsIn(request, "event"));
  expect(all.filter(isThrown)).toHaveLength(1);
}

test("an error without a proxy survives its tab, and arrives once when the proxy is back", async ({ context }) => {
  const page = await openTestEvents(context);
  await must("docker compose stop proxy");
  const trace = await throwAndQueue(page);
  await page.close();
  await startProxy();
  const [mark, since] = [await recorder.count(), Date.now()];
  await arrivesOnce(await openTestEvents(context), trace, mark, since);
});

test("an error while the browser is offline arrives when it is online, from the same tab", async ({ context }) => {
  const page = await openTestEvents(context);
  await context.setOffline(true);
  const trace = await throwAndQueue(page);
  const [mark, since] = [await recorder.count(), Date.now()];
  await context.setOffline(false);
  await arrivesOnce(page, trace, mark, since);
});
