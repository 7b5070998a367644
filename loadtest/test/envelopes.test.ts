import { describe, expect, it } from "vitest";
import { envelopes } from "../journeys/envelopes.ts";
import { newClient } from "../lib/client.ts";
import { readOptions } from "../lib/options.ts";
import type { Response } from "../lib/request.ts";

/** The checks recorded for an envelope with this response: whether they passed. */
async function recorded(response: Partial<Response>): Promise<Record<string, boolean>> {
  const recorded: Record<string, boolean> = {};
  const empty = { headers: {}, body: "", milliseconds: 1, error: "", at: "", traceId: "" };
  await envelopes({
    ...newClient(readOptions({}), { probed: {}, run: "" }),
    request: async () => ({ ...empty, status: 200, ...response }),
    check: (id, ok) => {
      if (id.startsWith("tunnel_") && id !== "tunnel_answer") recorded[id] = ok;
    },
  });
  return recorded;
}

describe("an envelope", () => {
  it.each([
    ["accepted", { status: 200 }, { tunnel_accepted: true, tunnel_within_limits: true }],
    ["not answered because the ingest is down", { status: 503 }, {}],
    ["left without a response", { status: 0, error: "timeout" }, {}],
    ["rejected", { status: 403 }, { tunnel_accepted: false }],
    [
      "rate-limited, with the categories",
      { status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } },
      { tunnel_retryable: true, tunnel_within_limits: false },
    ],
    ["rate-limited, without", { status: 429 }, { tunnel_retryable: false, tunnel_within_limits: false }],
  ])("is %s", async (_, response, expected) => {
    expect(await recorded(response)).toEqual(expected);
  });
});
