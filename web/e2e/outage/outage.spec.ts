import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { outcome } from "../../../proxy/spool/test/support/arrivals.ts";
import { outageSeconds, printResult } from "../../../proxy/spool/test/support/fault-result.ts";
import { runLoad } from "../../../proxy/spool/test/support/load.ts";
import { changeConfig } from "../../../proxy/spool/test/support/proxy-config.ts";
import { type Stack, startStack } from "../../../proxy/spool/test/support/stack.ts";
import { waitUntil } from "../../../proxy/spool/test/support/wait.ts";
import { expect, open, test } from "../fixtures.ts";
import { webImage } from "../test-network.ts";

// Fewer per second than in the spool's own tests: here a browser and the app use the processor too.
const rate = 30;
let stack: Stack;
// On a machine that stands still for longer than the spool is given to answer, envelopes are sent again: that would test the machine.
const patient = changeConfig("snippets/envelope-headers.conf", {
  "proxy_connect_timeout 2s": "proxy_connect_timeout 60s",
  "proxy_send_timeout 10s": "proxy_send_timeout 60s",
  "proxy_read_timeout 10s": "proxy_read_timeout 60s",
});
test.afterAll(() => patient.remove());
// The browser may reach localhost only.
const forwarder = createServer((inside) => {
  const outside = connect(stack.proxy);
  inside.on("error", () => outside.destroy()).on("close", () => outside.destroy());
  outside.on("error", () => inside.destroy());
  inside.pipe(outside).pipe(inside);
});
test.beforeEach(async () => {
  // Delivering a minute's envelopes at the default of 500 per second would take half a minute more.
  stack = await startStack({ SPOOL_RATE: "2000" }, { proxy: true, web: webImage, proxyArgs: patient.args });
  await once(forwarder.listen(0, "127.0.0.1"), "listening");
});
test.afterEach(async () => {
  forwarder.close();
  await stack?.stop();
});

test(`the ingest is down for ${outageSeconds} s under load: every error of a page arrives when it is back`, async ({
  page,
  allow,
}) => {
  test.setTimeout((outageSeconds + 1_200) * 1_000);
  const origin = `https://localhost:${(forwarder.address() as AddressInfo).port}`;
  allow.origin(origin);
  allow.consoleError(/Thrown in the outage \d+/);
  // The event id of each error that the page sent, by its message.
  const sent = new Map<string, string>();
  page.on("request", (request) => {
    const [header = "{}", item = "{}", payload = ""] = (request.postData() ?? "").split("\n");
    const [message] = /Thrown in the outage \d+/.exec(payload) ?? [];
    if (message && JSON.parse(item).type === "event") sent.set(message, JSON.parse(header).event_id);
  });
  const load = () => open(page, `${origin}/test-events`);
  const throwOne = async (message: string) => {
    await page.evaluate((text) => {
      setTimeout(() => {
        throw new Error(text);
      });
    }, message);
    await expect.poll(() => sent.has(message), { timeout: 180_000 }).toBe(true);
  };

  const faults = async (more: (envelopes: number) => Promise<void>) => {
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
  await waitUntil(async () => (await fetch(`${stack.url}/healthz`)).ok);
  const result = await runLoad(stack, rate, faults, "/");

  const { lost } = await printResult(stack, `ingest down for ${outageSeconds} s, a browser among the clients`, result);
  expect(lost).toBe(0);
  expect(sent.size).toBeGreaterThanOrEqual(3);
  await waitUntil(async () => (await outcome(stack, [...sent.values()])).lost === 0);
  expect(result.pages.failed).toEqual([]);
  expect(result.retries).toEqual({});
});
