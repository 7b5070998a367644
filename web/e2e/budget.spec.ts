import { expect, test } from "./visitor.ts";

const MOST_KB = 230;
const MOST_BLOCKED_MS = 300;

test("the overview stays light: bytes over the wire, and time the page can't react", async ({ page }) => {
  await page.addInitScript(() => {
    const total = { blocked: 0 };
    Object.assign(window, { total });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) total.blocked += Math.max(0, duration - 50);
    }).observe({ type: "longtask", buffered: true });
  });
  await page.goto("/", { waitUntil: "networkidle" });
  const { bytes, blocked } = await page.evaluate(() => ({
    bytes: [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
      .map((entry) => (entry as PerformanceResourceTiming).transferSize)
      .reduce((sum, size) => sum + size, 0),
    blocked: (window as unknown as { total: { blocked: number } }).total.blocked,
  }));
  console.log(`/: ${Math.round(bytes / 1000)} kB, blocked ${Math.round(blocked)} ms`);
  expect(bytes / 1000).toBeLessThan(MOST_KB);
  expect(blocked).toBeLessThan(MOST_BLOCKED_MS);
});
