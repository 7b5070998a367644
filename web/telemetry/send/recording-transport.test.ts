import { expect, test } from "vitest";
import { describeRateLimits, recordingOutcomes } from "./recording-transport.js";
import { sendOutcomes } from "./send-outcomes.js";

const envelope = [{ event_id: "e1" }, [[{ type: "event" }, {}]]];

async function sent(answer: () => Promise<{ statusCode?: number; headers?: Record<string, string> }>) {
  const transport = recordingOutcomes(() => ({ send: answer, flush: async () => true }))({});
  await Promise.resolve(transport.send(envelope)).catch(() => undefined);
  return sendOutcomes()[0];
}

test("a failure to send is recorded and still fails", async () => {
  const failing = () => Promise.reject(new TypeError("Failed to fetch"));
  expect(await sent(failing)).toMatchObject({ outcome: "failed", status: undefined });
  const transport = recordingOutcomes(() => ({ send: failing, flush: async () => true }))({});
  await expect(transport.send(envelope)).rejects.toThrow("Failed to fetch");
});

test("an envelope that the spool accepted is recorded as queued", async () => {
  const queued = async () => ({ statusCode: 200, headers: { "x-envelope-outcome": "queued" } });
  expect(await sent(queued)).toMatchObject({
    outcome: "queued",
    note: "the ingest did not accept it; it is queued in the spool",
  });
});

test.each([
  [
    { "x-sentry-rate-limits": "60:transaction;span:key, 2700:error:organization" },
    "no transaction, span for 60 s; no error for 2700 s",
  ],
  [{ "x-sentry-rate-limits": "60::key" }, "nothing for 60 s"],
  [{ "retry-after": "30" }, "nothing for 30 s"],
  [{ "x-sentry-rate-limits": null }, undefined],
])("%j means: %s", (headers, note) => expect(describeRateLimits(headers)).toBe(note));
