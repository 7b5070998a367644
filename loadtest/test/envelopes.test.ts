import { describe, expect, it } from "vitest";
import { envelopes } from "../journeys/envelopes.ts";
import type { CheckId } from "../lib/checks.ts";
import type { Client } from "../lib/client.ts";
import { readOptions } from "../lib/options.ts";
import type { OutagePhase, Response } from "../lib/request.ts";

/** The checks recorded for an envelope with this response, in that phase. */
async function recorded(
  phase: OutagePhase | undefined,
  response: Partial<Response>,
): Promise<Record<string, [passed: number, failed: number]>> {
  const recorded: Record<string, [number, number]> = {};
  const client: Client = {
    options: readOptions({}),
    probed: {},
    phase: () => phase,
    isNewTrace: () => true,
    recordSent: async () => {},
    recordUpstream: () => {},
    request: async () => ({
      status: 200,
      headers: {},
      body: "",
      milliseconds: 1,
      error: "",
      at: "",
      traceId: "",
      ...response,
    }),
    check(id: CheckId, ok: boolean) {
      if (!id.startsWith("tunnel_") || id === "tunnel_answer") return;
      recorded[id] ??= [0, 0];
      recorded[id][ok ? 0 : 1] = 1;
    },
  };
  await envelopes(client);
  return recorded;
}

const limited = { status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } };

describe("an envelope", () => {
  it.each([
    ["accepted", { status: 200 }, { tunnel_accepted: [1, 0], tunnel_within_limits: [1, 0] }],
    ["not answered because the ingest is down", { status: 503 }, {}],
    ["rejected", { status: 403 }, { tunnel_accepted: [0, 1] }],
    ["rate-limited, with the categories", limited, { tunnel_retryable: [1, 0], tunnel_within_limits: [0, 1] }],
    [
      "rate-limited, without the categories",
      { status: 429 },
      { tunnel_retryable: [0, 1], tunnel_within_limits: [0, 1] },
    ],
  ] as const)("is %s", async (_, response, expected) => {
    expect(await recorded(undefined, response)).toEqual(expected);
    expect(await recorded("after", response)).toEqual(expected);
  });

  it.each([
    ["queued", { status: 200 }, [1, 0]],
    ["to be retried", { status: 503 }, [1, 0]],
    ["rate-limited by category", limited, [1, 0]],
    ["to be retried, but too late", { status: 503, milliseconds: 9000 }, [0, 1]],
    ["rejected as invalid", { status: 400 }, [0, 1]],
    ["failed with a server error", { status: 500 }, [0, 1]],
    ["left without a response", { status: 0, error: "timeout" }, [0, 1]],
  ] as const)("during an outage is %s", async (_, response, expected) => {
    expect(await recorded("down", response)).toEqual({ tunnel_retryable: expected });
  });

  it("is not checked at the start and end of an outage", async () => {
    expect(await recorded("transition", { status: 500 })).toEqual({});
  });
});
