import { describe, expect, it } from "vitest";
import { balanceLimit, balanceOf, FALSE_ALARM, SLOTS } from "./balance.ts";
import { randomHex } from "./random.ts";

function strays(ids: string[]): number {
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

  it.each([10, 100, 1000, 20_000])("stays far within its limit for %i different ids", (visits) => {
    for (let run = 0; run < 20; run++) expect(strays(fresh(visits))).toBeLessThan(balanceLimit(visits));
  });

  it("keeps to the false alarm that it states: the bound at the limit is that chance, and not far below", () => {
    for (const visits of [100, 1000, 100_000]) {
      const limit = balanceLimit(visits);
      const bound = 2 * SLOTS * Math.exp(-(limit ** 2) / (2 * (visits / SLOTS + limit / 3)));
      expect(bound).toBeLessThanOrEqual(FALSE_ALARM);
      expect(bound).toBeGreaterThan(FALSE_ALARM / 50);
    }
  });

  it("catches a page cached for a while: a hundred ids, each given to a hundred of ten thousand visitors", () => {
    const shared = fresh(100).flatMap((id) => new Array<string>(100).fill(id));
    expect(strays(shared)).toBeGreaterThan(balanceLimit(10_000));
  });

  it("catches one id in a tenth of the visits, none of them by the same virtual user", () => {
    const ids = [...fresh(9000), ...new Array<string>(1000).fill(randomHex(16))];
    expect(strays(ids)).toBeGreaterThan(balanceLimit(10_000));
  });
});
