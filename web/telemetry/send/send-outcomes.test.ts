import { expect, test, vi } from "vitest";
import { recordOutcome, sendOutcomes, subscribe } from "./send-outcomes.js";

const outcome = {
  at: 0,
  eventId: "e",
  category: "error",
  outcome: "accepted" as const,
  status: 200,
  latencyMs: 3,
  note: undefined,
};

test("the latest outcomes are stored, newest first, and subscribers are notified", () => {
  const listener = vi.fn();
  const unsubscribe = subscribe(listener);
  for (let at = 1; at <= 60; at++) recordOutcome({ ...outcome, at });
  expect(listener).toHaveBeenCalledTimes(60);
  expect(sendOutcomes()).toHaveLength(50);
  expect(sendOutcomes()[0]).toEqual({ ...outcome, at: 60, number: 60 });

  unsubscribe();
  recordOutcome(outcome);
  expect(listener).toHaveBeenCalledTimes(60);
});

test("another copy of the module shares the outcomes", async () => {
  vi.resetModules();
  const copy = await import("./send-outcomes.js");
  expect(copy.sendOutcomes()).toBe(sendOutcomes());
});
