import type { BrowserContext, Page } from "@playwright/test";
import { inside, on } from "../containers.ts";
import { messageOf, of, type Report, reportsIn } from "../envelopes.ts";
import { expect, open, outcomeOf, test, traceOf } from "../fixtures.ts";
import { recorder } from "../stack.ts";

const THROW = "Throw in the browser";
const well = { status: 200, headers: { "content-type": "application/json" }, body: "{}" };

test.beforeEach(({ watch }) => {
  test.setTimeout(180_000);
  watch.expectConsoleError(/Thrown on purpose|Failed to (?:load resource|fetch)/);
});
test.afterEach(async () => {
  await on("proxy", "start");
  await on("spool", "start");
  await recorder.answer(well);
  await proxyIsBack();
});

async function proxyIsBack() {
  const ready = async () => (await inside("proxy", "curl", "-fsS", "http://127.0.0.1:8081/readyz")).code;
  await expect.poll(ready, { timeout: 30_000 }).toBe(0);
}

async function openSignals(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await open(page, "/test-events");
  return page;
}

/** Throws in the page and waits until its SDK has put the report aside; returns the page's trace. */
async function throwAndKeep(page: Page): Promise<string> {
  const trace = await traceOf(page);
  await page.getByRole("button", { name: THROW }).click();
  await expect(outcomeOf(page, THROW)).toContainText("this browser has it, and sends it when it can", {
    timeout: 30_000,
  });
  await expect.poll(() => waiting(page), "envelopes in IndexedDB").toBeGreaterThan(0);
  return trace;
}

/** How many envelopes wait in the browser. */
function waiting(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const open = indexedDB.open("sentry-offline");
        open.onerror = reject;
        open.onsuccess = () => {
          const count = open.result.transaction("queue").objectStore("queue").count();
          count.onsuccess = () => {
            open.result.close();
            resolve(count.result);
          };
        };
      }),
  );
}

/** Waits for the thrown error of this trace among what came after `mark`, and for whatever else the browser keeps. */
async function arrivesOnce(page: Page, trace: string, mark: number, since: number): Promise<void> {
  const isIt = (report: Report) => of(trace)(report) && messageOf(report).includes("Thrown on purpose");
  const { envelope } = await recorder.waitFor((request) => reportsIn(request, "event").find(isIt), mark, 90_000);
  const { sent_at } = envelope.header as { sent_at?: string };
  expect(Date.parse(sent_at ?? ""), "sent_at is the moment of sending").toBeGreaterThanOrEqual(since);
  await expect.poll(() => waiting(page), { timeout: 30_000 }).toBe(0);
  const all = (await recorder.all()).slice(mark).flatMap((request) => reportsIn(request, "event"));
  expect(all.filter(isIt)).toHaveLength(1);
}

test("an error while there is no proxy outlasts its tab, and arrives once when all is back", async ({ context }) => {
  const page = await openSignals(context);
  await on("proxy", "stop");
  const trace = await throwAndKeep(page);
  await page.close();

  await on("proxy", "start");
  await proxyIsBack();
  const [mark, since] = [await recorder.count(), Date.now()];
  await arrivesOnce(await openSignals(context), trace, mark, since);
});

test("an error while neither ingest nor spool takes it outlasts its tab, and arrives once when they do", async ({
  context,
}) => {
  const page = await openSignals(context);
  await on("spool", "stop");
  await recorder.answer({ ...well, status: 503 });
  const trace = await throwAndKeep(page);
  await page.close();

  await on("spool", "start");
  const [mark, since] = [await recorder.count(), Date.now()];
  await recorder.answer(well);
  await arrivesOnce(await openSignals(context), trace, mark, since);
});

test("an error while the browser is offline arrives when it is online, from the same tab", async ({ context }) => {
  const page = await openSignals(context);
  await context.setOffline(true);
  const trace = await throwAndKeep(page);
  const [mark, since] = [await recorder.count(), Date.now()];
  await context.setOffline(false);
  await arrivesOnce(page, trace, mark, since);
});
