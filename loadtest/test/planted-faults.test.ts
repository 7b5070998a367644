import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CHECKS, type CheckId } from "../lib/checks.ts";
import { JOURNEYS, type JourneyName, journeysFor } from "../lib/journeys.ts";
import { readKnobs } from "../lib/knobs.ts";
import { demandedChecks } from "../lib/thresholds.ts";
import { type Alarm, FAULTS, type Plant } from "./faults.ts";
import { FetchVisitor } from "./fetch-visitor.ts";
import { startStub } from "./stub.ts";

const ROUNDS = 6;

/** Which alarms a run of every journey raises against a target with that fault. */
async function alarms(
  plant: Plant,
  journeys?: JourneyName[],
  env: Record<string, string> = {},
): Promise<{ raised: Alarm[]; visitor: FetchVisitor }> {
  const stub = await startStub(plant);
  const knobs = readKnobs({ ...env, BASE_URL: stub.url });
  const visitor = new FetchVisitor(knobs);
  try {
    for (let round = 0; round < (journeys ? 1 : ROUNDS); round++)
      for (const name of journeys ?? journeysFor(knobs)) await JOURNEYS[name].run(visitor);
  } finally {
    await stub.stop();
  }
  const raised: Alarm[] = [...visitor.booked]
    .filter(([id, { passed, failed }]) => passed / (passed + failed) < CHECKS[id].share)
    .map(([id]) => id);
  const slow = visitor.pageTimes.sort((a, b) => a - b)[Math.floor(visitor.pageTimes.length * 0.95)] ?? 0;
  if (slow >= knobs.pageP95) raised.push("page speed");
  return { raised, visitor };
}

describe("a target without faults", () => {
  it("passes every check that a run demands, with samples", async () => {
    const { raised, visitor } = await alarms({});
    expect(raised.map((id) => [id, visitor.booked.get(id as CheckId)?.examples[0]])).toEqual([]);
    const owed = demandedChecks("smoke", visitor.knobs).filter((id) => id !== "iteration_ok");
    expect(owed.filter((id) => !visitor.booked.get(id)?.passed)).toEqual([]);
  });
});

describe("an app without the console", () => {
  it("fails what the console's pages show, when they are asked for", async () => {
    const { raised } = await alarms({ noConsole: true });
    expect(raised).toEqual(expect.arrayContaining(["forwarded", "redirect_ok"]));
  });

  it.each(["../README.md", "../../deploy/kubernetes/README.md"])("passes by the command line of %s", async (readme) => {
    const text = readFileSync(join(import.meta.dirname, readme), "utf8");
    const line = text.split("\n").find((one) => /^ {4}(make loadtest|k6 archive) .*=off/.test(one)) ?? "";
    const env = Object.fromEntries(
      [...line.matchAll(/(\w+_PAGE|ECHO_PATH|PAGES)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    expect(Object.keys(env)).toHaveLength(5);
    const { raised, visitor } = await alarms({ noConsole: true }, undefined, env);
    expect(raised).toEqual([]);
    const owed = demandedChecks("smoke", visitor.knobs).filter((id) => id !== "iteration_ok");
    expect(owed.filter((id) => !visitor.booked.get(id)?.passed)).toEqual([]);
  });
});

describe("planted faults", () => {
  for (const [fault, { plant, caughtBy, journeys }] of Object.entries(FAULTS)) {
    it(`${fault}: caught by ${caughtBy.join(", ")}`, async () => {
      const { raised } = await alarms(plant, journeys);
      expect(raised).toEqual(expect.arrayContaining(caughtBy));
    });
  }
});
