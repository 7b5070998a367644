import { createTransport } from "@sentry/nextjs";
import { expect, test, vi } from "vitest";
import { recordingOutcomes } from "./recording-transport.js";
import { sendOutcomes, subscribe } from "./send-outcomes.js";

type Response = { statusCode?: number; headers?: Record<string, string> };
const envelope = [{ event_id: "e1" }, [[{ type: "event" }, {}]]];
const send = (answer: () => Promise<Response>) =>
  recordingOutcomes(() => ({ send: answer, flush: async () => true }))({}).send(envelope);
const queued = { statusCode: 200, headers: { "x-envelope-outcome": "queued" } };
const limits = { "retry-after": null, "x-sentry-rate-limits": "60:transaction;span:key, 2700:error:organization" };

test("the latest outcomes are stored, newest first, and subscribers are notified", async () => {
  const listener = vi.fn();
  const unsubscribe = subscribe(listener);
  for (let n = 0; n < 60; n++) await send(async () => ({ statusCode: 200 }));
  expect(listener).toHaveBeenCalledTimes(60);
  expect(sendOutcomes()).toHaveLength(50);
  expect(sendOutcomes()[0]).toMatchObject({ number: 60, eventId: "e1", category: "error", outcome: "accepted" });

  unsubscribe();
  await send(async () => queued);
  expect(listener).toHaveBeenCalledTimes(60);
  const note = "the ingest did not accept it; it is queued in the spool";
  expect(sendOutcomes()[0]).toMatchObject({ outcome: "queued", note });

  // The bundles of a server have a copy of the module each.
  vi.resetModules();
  expect((await import("./send-outcomes.js")).sendOutcomes()).toBe(sendOutcomes());
});

test("a rate limit is recorded in words, and the envelope that the SDK then keeps back", async () => {
  const options = { recordDroppedEvent: () => {} };
  const limited = (given: typeof options) => createTransport(given, async () => ({ statusCode: 429, headers: limits }));
  const transport = recordingOutcomes(limited)(options);
  await transport.send(envelope);
  const note = "no transaction, span for 60 s; no error for 2700 s";
  expect(sendOutcomes()[0]).toMatchObject({ outcome: "rejected", status: 429, note });
  await transport.send(envelope);
  expect(sendOutcomes()[0]).toMatchObject({ outcome: "rate limited", note: "a rate limit is in force" });
});

test("a failure to send is recorded and still fails", async () => {
  await expect(send(() => Promise.reject(new TypeError("Failed to fetch")))).rejects.toThrow("Failed to fetch");
  expect(sendOutcomes()[0]?.outcome).toBe("failed");
});
