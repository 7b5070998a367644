import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JOURNEY_NAMES, journey } from "../journeys/index.ts";
import { CHECKS, type CheckId, shareOf } from "../lib/checks.ts";
import { failureText } from "../lib/failures.ts";
import { text } from "../suite/report.ts";
import { EXIT, type Summary } from "../suite/summary.ts";
import { CONTENT_FAULTS } from "./content-faults.ts";
import { FAULTS, type How, type Planted } from "./faults.ts";
import { DECLARED, hasK6, runK6, runShim, startReader } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

// Every planted fault, with the real k6 if it is on PATH, else with the shim.

let reader: Awaited<ReturnType<typeof startReader>>;
beforeAll(async () => {
  reader = await startReader();
});
afterAll(() => reader.stop());

/** The journeys that record a check. */
function journeysOf(check: string): string {
  const names = JOURNEY_NAMES.filter((name) => journey(name).checks.some((id) => id === check)).join();
  if (check === "" || names !== "") return names;
  const others = { action_once: "action", not_found_noindex: "notFound" } as Record<string, string>;
  return others[check] ?? (/deliver|unaltered|tunnel/.test(check) ? "envelopes,replay" : "browse");
}

async function run(fault: Fault, by = "", { profile = "smoke", env: given = {}, rounds }: How = {}) {
  const isSmoke = profile === "smoke";
  const stub = await startStub(fault, reader.url);
  const env = { ...DECLARED, JOURNEYS: journeysOf(by), BASE_URL: stub.url, INGEST: reader.url, DELIVERY_WAIT: "1s" };
  try {
    if (hasK6) return await runK6(profile, { ...env, ...(isSmoke ? {} : { RATE: "8", DURATION: "5s" }), ...given });
    return await runShim(profile, { ...env, ...given }, rounds ?? (isSmoke ? 5 : 3));
  } finally {
    stub.stop();
  }
}

/** What the summary says about a check; all of it for another part of the result. */
function said(summary: Summary, about: string): string {
  const check = summary.checks.find(({ id }) => id === about);
  if (!(about in CHECKS)) return text(summary);
  return check?.result === "failed" ? check.failures.map(failureText).join("\n") : `${about} has not failed`;
}

function exitFor(by: string): number {
  if (by === "availability" || by === "incomplete") return EXIT[by];
  return by.startsWith("row ") || shareOf(by as CheckId) < 1 ? EXIT.limits : EXIT.integrity;
}

describe(`with ${hasK6 ? "k6" : "the shim"}`, () => {
  it("a target without faults passes", { timeout: 120_000 }, async () => {
    const { summary, output, code } = await run({});
    expect(output).toContain("PASSED");
    expect([code, summary?.exit]).toEqual([0, 0]);
    expect(summary?.integrity).toMatchObject({ broken: 0 });
    expect(summary?.checks.find(({ id }) => id === "delivered")).toMatchObject({ result: "passed" });
  });

  for (const [by, planted] of [...Object.entries(FAULTS), ...Object.entries(CONTENT_FAULTS)])
    it.each(planted as Planted[])(`%s: named by ${by}`, { timeout: 160_000 }, async (_, fault, words, how) => {
      const { summary, code, output } = await run(fault, by, how);
      if (!summary) throw new Error(output);
      expect(said(summary, by)).toMatch(words);
      expect(summary.exit).toBe(exitFor(by));
      // No threshold of k6 compares two times.
      if (by !== "row drift") expect(code).toBe(99);
    });
});
