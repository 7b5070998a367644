import { describe, expect, it } from "vitest";
import { RecentIds } from "./recent-ids.ts";

describe("recent ids", () => {
  it("recognise a repeated id, and no other", () => {
    const ids = new RecentIds(10);
    expect([ids.add("a"), ids.add("b"), ids.add("a"), ids.add("c")]).toEqual([true, true, false, true]);
  });

  it("forget the oldest first, and never exceed their capacity", () => {
    const ids = new RecentIds(3);
    for (const id of ["a", "b", "c", "d"]) ids.add(id);
    expect(ids.add("b")).toBe(false);
    expect(ids.add("a")).toBe(true);
  });

  it("raise no false alarm for 200,000 different ids with a small capacity", () => {
    const ids = new RecentIds(1000);
    let alarms = 0;
    for (let at = 0; at < 200_000; at++) if (!ids.add(at.toString(16).padStart(32, "0"))) alarms++;
    expect(alarms).toBe(0);
  });
});
