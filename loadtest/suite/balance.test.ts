import { describe, expect, it } from "vitest";
import { randomHex } from "../lib/random.ts";
import { balanceLimit, balanceOf, FALSE_ALARM, SLOTS } from "./balance.ts";

function maxImbalance(ids: string[]): number {
  const slots = new Array<number>(SLOTS).fill(0);
  for (const id of ids) {
    const { slot, step } = balanceOf(id);
    slots[slot] = (slots[slot] ?? 0) + step;
  }
  return Math.max(...slots.map(Math.abs));
}

const fresh = (count: number) => Array.from({ length: count }, () => randomHex(16));

describe("the balance of trace ids", () => {
  it("spreads ids evenly, in both directions", () => {
    const counts = new Map<string, number>();
    for (const id of fresh(64_000)) {
      const { slot, step } = balanceOf(id);
      expect(slot).toBeLessThan(SLOTS);
      counts.set(`${slot}${step}`, (counts.get(`${slot}${step}`) ?? 0) + 1);
    }
    expect(counts.size).toBe(2 * SLOTS);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(200);
  });

  it.each([10, 100, 1000, 20_000])("stays far within its limit for %i different ids", (iterations) => {
    for (let run = 0; run < 20; run++) expect(maxImbalance(fresh(iterations))).toBeLessThan(balanceLimit(iterations));
  });

  it("has the stated probability of a false alarm: the bound at the limit is at most that, and not far below", () => {
    for (const iterations of [100, 1000, 100_000]) {
      const limit = balanceLimit(iterations);
      const bound = 2 * SLOTS * Math.exp(-(limit ** 2) / (2 * (iterations / SLOTS + limit / 3)));
      expect(bound).toBeLessThanOrEqual(FALSE_ALARM);
      expect(bound).toBeGreaterThan(FALSE_ALARM / 50);
    }
  });

  it("detects a page cached for a while: a hundred ids, each given to a hundred of ten thousand clients", () => {
    const shared = fresh(100).flatMap((id) => new Array<string>(100).fill(id));
    expect(maxImbalance(shared)).toBeGreaterThan(balanceLimit(10_000));
  });

  it("detects one id in a tenth of the iterations, each in another virtual user", () => {
    const ids = [...fresh(9000), ...new Array<string>(1000).fill(randomHex(16))];
    expect(maxImbalance(ids)).toBeGreaterThan(balanceLimit(10_000));
  });
});
