import { describe, expect, it } from "vitest";
import { report } from "../journeys/report.ts";
import { readKnobs } from "../lib/knobs.ts";
import type { Phase } from "../lib/stages.ts";
import type { Answer } from "../lib/visitor.ts";
import { FetchVisitor } from "./fetch-visitor.ts";

/** What a report that is answered like this, in that phase, is booked as. */
async function booked(
  phase: Phase | undefined,
  answer: Partial<Answer>,
): Promise<Record<string, [passed: number, failed: number]>> {
  const visitor = new FetchVisitor(readKnobs({}), phase);
  visitor.ask = async () => ({ status: 200, headers: {}, body: "", milliseconds: 1, error: "", ...answer });
  await report(visitor);
  const tunnel = [...visitor.booked].filter(([id]) => id.startsWith("tunnel_"));
  return Object.fromEntries(tunnel.map(([id, { passed, failed }]) => [id, [Math.sign(passed), Math.sign(failed)]]));
}

const limited = { status: 429, headers: { "x-sentry-rate-limits": "60:replay:key" } };

describe("a report", () => {
  it.each([
    ["taken", { status: 200 }, { tunnel_accepted: [1, 0], tunnel_open: [1, 0] }],
    ["lost to an ingest that is down", { status: 503 }, { tunnel_accepted: [0, 1] }],
    ["refused", { status: 403 }, { tunnel_accepted: [0, 1] }],
    ["one too many, and told which categories to spare", limited, { tunnel_honest: [1, 0], tunnel_open: [0, 1] }],
    ["one too many, and silenced altogether", { status: 429 }, { tunnel_honest: [0, 1], tunnel_open: [0, 1] }],
  ] as const)("is %s", async (_, answer, expected) => {
    expect(await booked(undefined, answer)).toEqual(expected);
    expect(await booked("after", answer)).toEqual(expected);
  });

  it.each([
    ["kept for later", { status: 200 }, [1, 0]],
    ["told to try again", { status: 503 }, [1, 0]],
    ["limited by category", limited, [1, 0]],
    ["told so late", { status: 503, milliseconds: 9000 }, [0, 1]],
    ["told that it is at fault", { status: 400 }, [0, 1]],
    ["told of a crash", { status: 500 }, [0, 1]],
    ["told nothing", { status: 0, error: "timeout" }, [0, 1]],
  ] as const)("during an outage is %s", async (_, answer, expected) => {
    expect(await booked("down", answer)).toEqual({ tunnel_honest: expected });
  });

  it("is not judged around the ends of an outage", async () => {
    expect(await booked("edge", { status: 500 })).toEqual({});
  });
});
