import { beforeAll, describe, expect, it } from "vitest";
import { JOURNEY_NAMES, journey } from "../journeys/index.ts";
import { CHECKS, type CheckId, shareOf } from "../lib/checks.ts";
import { failureText } from "../lib/failures.ts";
import { text } from "../suite/report.ts";
import { EXIT, type Summary } from "../suite/summary.ts";
import { FAULTS, type How, type Planted } from "./faults.ts";
import { DECLARED, hasK6, runK6, runShim, startReader } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

let reader: Awaited<ReturnType<typeof startReader>>;
beforeAll(async () => {
  reader = await startReader();
  return reader.stop;
});

function journeysOf(check: string): string {
  const names = JOURNEY_NAMES.filter((name) => journey(name).checks.some((id) => id === check)).join();
  if (check === "" || names !== "") return names;
  const others = { action_once: "action", not_found_noindex: "notFound" } as Record<string, string>;
  return others[check] ?? (/deliver|unaltered|tunnel/.test(check) ? "envelopes,replay" : "browse");
}

async function run(fault: Fault, by = "", { profile = "smoke", env: given = {}, rounds }: How = {}) {
  const BASE_URL = await startStub(fault, reader.url);
  const env = { ...DECLARED, JOURNEYS: journeysOf(by), BASE_URL, INGEST: reader.url, DELIVERY_WAIT: "1s" };
  if (!hasK6) return runShim(profile, { ...env, ...given }, rounds);
  return runK6(profile, { ...env, ...(profile === "smoke" ? {} : { RATE: "8", DURATION: "5s" }), ...given });
}

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
  it("a target without faults passes", async () => {
    const { summary, output, code } = await run({});
    expect(output).toContain("PASSED");
    expect([code, summary?.exit]).toEqual([0, 0]);
    expect(summary?.integrity).toMatchObject({ broken: 0 });
    expect(summary?.checks.find(({ id }) => id === "delivered")).toMatchObject({ result: "passed" });
  });

  for (const [by, planted] of Object.entries(FAULTS))
    it.each(planted as Planted[])(`%s: named by ${by}`, async (_, fault, words, how) => {
      const { summary, code, output } = await run(fault, by, how);
      if (!summary) throw new Error(output);
      expect(said(summary, by)).toMatch(words);
      expect(summary.exit).toBe(exitFor(by));
      // No threshold of k6 compares two times.
      if (by !== "row drift") expect(code).toBe(99);
    });
});
