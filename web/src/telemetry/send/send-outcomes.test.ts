import { expect, test, vi } from "vitest";
import { deliveries, record, subscribe } from "./send-outcomes";

const delivery = {
  at: 0,
  eventId: "e",
  category: "error",
  outcome: "taken" as const,
  status: 200,
  latencyMs: 3,
  note: undefined,
};

test("deliveries are kept newest first, bounded, and told to subscribers", () => {
  const listener = vi.fn();
  const unsubscribe = subscribe(listener);
  for (let at = 1; at <= 60; at++) record({ ...delivery, at });
  expect(listener).toHaveBeenCalledTimes(60);
  expect(deliveries()).toHaveLength(50);
  expect(deliveries()[0]).toEqual({ ...delivery, at: 60, number: 60 });

  unsubscribe();
  record(delivery);
  expect(listener).toHaveBeenCalledTimes(60);
});

test("another copy of the module sees the same deliveries", async () => {
  vi.resetModules();
  const copy = await import("./send-outcomes");
  expect(copy.deliveries()).toBe(deliveries());
});
