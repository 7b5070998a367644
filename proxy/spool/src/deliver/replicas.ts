import { lookup } from "node:dns/promises";
import { setTimeout as sleep } from "node:timers/promises";

const intervalMs = 10_000;

/**
 * Counts the replicas of the spool that are ready, every 10 s: the addresses of their name. Calls `onCount` with the number. While the name
 * has no address or DNS does not answer, the last number stays.
 */
export async function countReplicas(name: string, onCount: (replicas: number) => void): Promise<never> {
  for (;;) {
    const found = await lookup(name, { all: true }).catch(() => []);
    // A replica may have an address of each family.
    const count = Math.max(...[4, 6].map((family) => found.filter((address) => address.family === family).length));
    if (count > 0) onCount(count);
    await sleep(intervalMs, undefined, { ref: false });
  }
}
