import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JOURNEY_NAMES, journey } from "../journeys/index.ts";
import { type CheckId, shareOf } from "../lib/checks.ts";
import { EXIT, type Summary } from "../suite/summary.ts";
import { exampleText, text } from "../suite/text.ts";
import { FAULTS, type Planted } from "./faults.ts";
import { hasK6, runK6, runShim, startReader } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

// Every planted fault, with the real k6 if it is on PATH, else with the shim.

let reader: Awaited<ReturnType<typeof startReader>>;
beforeAll(async () => {
  reader = await startReader();
});
afterAll(() => reader.stop());

/** The journeys that record a check; none: all of them. The shim runs one at a time, so it leaves out the others. */
const journeysOf = (check: CheckId) => JOURNEY_NAMES.filter((name) => journey(name).checks.includes(check)).join();

async function run({
  fault,
  profile = "smoke",
  env: given = {},
  rounds = profile === "smoke" ? 5 : 3,
  expect: check,
}: { fault: Fault } & Partial<Planted>) {
  const env = hasK6 ? given : { ONLY: journeysOf(check as CheckId), ...given };
  const stub = await startStub(fault, reader.url);
  const all = { BASE_URL: stub.url, INGEST: reader.url, DELIVERY_WAIT: "1s", ...env };
  try {
    return await (hasK6
      ? runK6(profile, profile === "smoke" ? all : { RATE: "8", DURATION: "5s", ...all })
      : runShim(profile, all, rounds));
  } finally {
    await stub.stop();
  }
}

/** What the summary says about a check, a row of durations or the availability. */
function said(summary: Summary, about: Planted["expect"]): string {
  if (about === "availability") return text(summary);
  if (about.startsWith("row ")) return text(summary);
  const check = summary.checks.find(({ id }) => id === about);
  return check?.result === "failed" ? check.examples.map(exampleText).join("\n") : `${about} has not failed`;
}

const exitFor = (expected: Planted["expect"]): number => {
  if (expected === "availability") return EXIT.availability;
  return expected.startsWith("row ") || shareOf(expected as never) < 1 ? EXIT.limits : EXIT.integrity;
};

describe(`with ${hasK6 ? "k6" : "the shim"}`, () => {
  it("a target without faults passes", { timeout: 120_000 }, async () => {
    const { summary, output, code } = await run({ fault: {} });
    expect(output).toContain("PASSED");
    expect([code, summary?.exit]).toEqual([0, 0]);
    expect(summary?.integrity).toMatchObject({ broken: 0 });
    expect(summary?.checks.find(({ id }) => id === "delivered")).toMatchObject({ result: "passed" });
  });

  for (const [name, planted] of Object.entries(FAULTS)) {
    it(`${name}: named by ${planted.expect}`, { timeout: 160_000 }, async () => {
      const { summary, code, output } = await run(planted);
      if (!summary) throw new Error(output);
      expect(said(summary, planted.expect)).toMatch(planted.words);
      expect([code, summary.exit]).toEqual([99, exitFor(planted.expect)]);
    });
  }
});
