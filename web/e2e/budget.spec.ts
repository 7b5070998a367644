import { expect, test } from "./fixtures.ts";

/** The most that the overview may transfer, in kB over the wire (compressed, headers left out). README.md has what it does. */
const BUDGET = { script: 200, stylesheet: 5, document: 8, all: 215 };
type Kind = keyof typeof BUDGET;

/** As on a mid-range phone: Lighthouse's own factor. */
const SLOWER = 4;

test("the overview stays light over the wire; the time it can't react is told", async ({ page }) => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  const found: Record<Kind, number> = { script: 0, stylesheet: 0, document: 0, all: 0 };
  page.on("requestfinished", async (request) => {
    const kind = request.resourceType();
    const { responseBodySize } = await request.sizes();
    if (kind in found) found[kind as Kind] += responseBodySize / 1000;
    found.all += responseBodySize / 1000;
  });
  await page.addInitScript(() => {
    const blocked = { ms: 0 };
    Object.assign(window, { blocked });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) blocked.ms += Math.max(0, duration - 50);
    }).observe({ type: "longtask", buffered: true });
  });
  await page.goto("/", { waitUntil: "networkidle" });
  const blocked = await page.evaluate(() => (window as unknown as { blocked: { ms: number } }).blocked.ms);
  const told = Object.entries(found).map(([kind, kB]) => `${kind} ${kB.toFixed(1)} kB`);
  console.log(`/: ${told.join(", ")}; blocked ${Math.round(blocked)} ms on a processor ${SLOWER} times slower`);
  expect(found.script).toBeGreaterThan(0);
  const over = Object.entries(BUDGET).filter(([kind, most]) => found[kind as Kind] > most);
  expect(over.map(([kind]) => `${kind}: ${found[kind as Kind].toFixed(1)} kB`)).toEqual([]);
});
