import type { Request } from "@playwright/test";
import { expect, test } from "./fixtures.ts";

/** The maximum that the overview may transfer, in kB over the wire (compressed, without headers). web/README.md has it, too. */
const BUDGET = { script: 240, stylesheet: 5, document: 8, all: 255 };
type Kind = keyof typeof BUDGET;

/** Simulates a mid-range phone, with Lighthouse's factor. */
const CPU_SLOWDOWN = 4;

test("the overview stays within its transfer budget; the time that the main thread is blocked is logged", async ({
  page,
}) => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
  const requests: Request[] = [];
  page.on("requestfinished", (request) => requests.push(request));
  await page.addInitScript(() => {
    const blocked = { ms: 0 };
    Object.assign(window, { blocked });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) blocked.ms += Math.max(0, duration - 50);
    }).observe({ type: "longtask", buffered: true });
  });
  await page.goto("/", { waitUntil: "networkidle" });
  const blocked = await page.evaluate(() => (window as unknown as { blocked: { ms: number } }).blocked.ms);
  const found: Record<Kind, number> = { script: 0, stylesheet: 0, document: 0, all: 0 };
  // Not as they finish: the size of a late one would be asked of a page that is closed.
  for (const request of requests) {
    const kind = request.resourceType();
    const { responseBodySize } = await request.sizes();
    if (kind in found) found[kind as Kind] += responseBodySize / 1000;
    found.all += responseBodySize / 1000;
  }
  const sizes = Object.entries(found).map(([kind, kB]) => `${kind} ${kB.toFixed(1)} kB`);
  console.log(`/: ${sizes.join(", ")}; blocked ${Math.round(blocked)} ms on a processor ${CPU_SLOWDOWN} times slower`);
  expect(found.script).toBeGreaterThan(0);
  const over = Object.entries(BUDGET).filter(([kind, max]) => found[kind as Kind] > max);
  expect(over.map(([kind]) => `${kind}: ${found[kind as Kind].toFixed(1)} kB`)).toEqual([]);
});
