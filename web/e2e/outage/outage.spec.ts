import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { outageSeconds, rate, row } from "../../../proxy/spool/test/outage.ts";
import { outcome } from "../../../proxy/spool/test/report.ts";
import { type Stack, startStack, until } from "../../../proxy/spool/test/stack.ts";
import { visit } from "../../../proxy/spool/test/visitors.ts";
import { expect, open, test } from "../fixtures.ts";
import { webImage } from "../test-network.ts";

let stack: Stack;
// The browser may look for nothing but localhost.
const way = createServer((inside) => {
  const outside = connect(stack.proxy);
  inside.on("error", () => outside.destroy()).on("close", () => outside.destroy());
  outside.on("error", () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
test.beforeEach(async () => {
  // A minute's reports at the default of 500 a second would take half a minute more.
  stack = await startStack({ SPOOL_RATE: "2000" }, { proxy: true, web: webImage });
  await once(way.listen(0, "127.0.0.1"), "listening");
});
test.afterEach(async () => {
  way.close();
  await stack?.stop();
});

test(`the ingest is out for ${outageSeconds} s under load: whatever a page throws meanwhile arrives when it is back`, async ({
  page,
  watch,
}) => {
  test.setTimeout((outageSeconds + 180) * 1_000);
  const origin = `https://localhost:${(way.address() as AddressInfo).port}`;
  watch.expectOrigin(origin);
  watch.expectConsoleError(/Thrown in the outage \d+/);
  // The id of each error that the page reported, by its message.
  const reported = new Map<string, string>();
  page.on("request", (request) => {
    const [header = "{}", item = "{}", payload = ""] = (request.postData() ?? "").split("\n");
    const [message] = /Thrown in the outage \d+/.exec(payload) ?? [];
    if (message && JSON.parse(item).type === "event") reported.set(message, JSON.parse(header).event_id);
  });
  const load = () => open(page, `${origin}/test-events`);
  const throwOne = async (message: string) => {
    await page.evaluate((text) => {
      setTimeout(() => {
        throw new Error(text);
      });
    }, message);
    await expect.poll(() => reported.has(message), { timeout: 30_000 }).toBe(true);
  };

  const faults = async (more: (reports: number) => Promise<void>) => {
    await load();
    await more(rate);
    await stack.ingest({ gone: true });
    const end = Date.now() + outageSeconds * 1_000;
    for (let n = 1; Date.now() < end; n++) {
      await throwOne(`Thrown in the outage ${n}`);
      if (n % 5 === 0) await load();
      await pause(500);
    }
    await stack.ingest();
    await more(rate);
  };
  await until(async () => (await fetch(`${stack.url}/healthz`)).ok);
  const visits = await visit(stack, rate, faults, "/");

  const result = await row(stack, `ingest out for ${outageSeconds} s, a browser among the visitors`, visits);
  expect(result.lost).toBe(0);
  expect(reported.size).toBeGreaterThanOrEqual(3);
  await until(async () => (await outcome(stack, [...reported.values()])).lost === 0, 60_000);
  expect(visits.pages.failed).toEqual([]);
  expect(visits.again).toEqual({});
});
