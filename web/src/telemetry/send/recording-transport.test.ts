import { expect, test } from "vitest";
import { limitsIn, watched } from "./recording-transport";
import { deliveries } from "./send-outcomes";

const envelope = [
  { event_id: "e1" },
  [
    [{ type: "event" }, {}],
    [{ type: "attachment" }, ""],
  ],
];

async function sent(answer: () => Promise<{ statusCode?: number; headers?: Record<string, string> }>) {
  const transport = watched(() => ({ send: answer, flush: async () => true }))({});
  await Promise.resolve(transport.send(envelope)).catch(() => undefined);
  return deliveries()[0];
}

test.each([
  ["taken", 200],
  ["refused", 403],
  ["refused", 413],
] as const)("%s: %i", async (outcome, status) => {
  expect(await sent(async () => ({ statusCode: status }))).toMatchObject({
    outcome,
    status,
    eventId: "e1",
    category: "error, attachment",
    latencyMs: expect.any(Number),
  });
});

test("a failure to send is recorded and still fails", async () => {
  const failing = () => Promise.reject(new TypeError("Failed to fetch"));
  expect(await sent(failing)).toMatchObject({ outcome: "no answer", status: undefined });
  const transport = watched(() => ({ send: failing, flush: async () => true }))({});
  await expect(transport.send(envelope)).rejects.toThrow("Failed to fetch");
});

test("what the SDK holds back because of a rate limit is said to be held back", async () => {
  expect(await sent(async () => ({}))).toMatchObject({ outcome: "held back" });
});

test("what the spool has is said to be kept", async () => {
  const kept = async () => ({ statusCode: 200, headers: { "x-envelope-outcome": "queued" } });
  expect(await sent(kept)).toMatchObject({ outcome: "kept", note: "the ingest did not take it; the spool has it" });
});

test.each([
  [
    { "x-sentry-rate-limits": "60:transaction;span:key, 2700:error:organization" },
    "no transaction, span for 60 s; no error for 2700 s",
  ],
  [{ "x-sentry-rate-limits": "60::key" }, "nothing for 60 s"],
  [{ "retry-after": "30" }, "nothing for 30 s"],
  [{ "x-sentry-rate-limits": null }, undefined],
])("%j means: %s", (headers, words) => expect(limitsIn(headers)).toBe(words));
