import { setTimeout as sleep } from "node:timers/promises";

/** Waits until `condition` is true; throws after `timeoutMs`. A condition that throws, or takes 5 s, counts as false. */
export async function waitUntil(condition: () => Promise<boolean>, timeoutMs = 300_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!(await Promise.race([condition().catch(() => false), sleep(5_000, false)]))) {
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${condition}`);
    await sleep(100);
  }
}
