import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { JOURNEYS, type JourneyName, journeysFor } from "../journeys/index.ts";
import { CHECKS, type CheckId } from "../lib/checks.ts";
import { readOptions } from "../lib/options.ts";
import { requiredChecks } from "../suite/thresholds.ts";
import { FAULTS, type Failure, type Fault } from "./faults.ts";
import { FetchClient } from "./fetch-client.ts";
import { startStub } from "./stub.ts";

const ROUNDS = 6;

/** The checks that fail when every journey runs against a target with that fault. */
async function failures(
  fault: Fault,
  journeys?: JourneyName[],
  env: Record<string, string> = {},
): Promise<{ failed: Failure[]; client: FetchClient }> {
  const stub = await startStub(fault);
  const options = readOptions({ ...env, BASE_URL: stub.url });
  const client = new FetchClient(options);
  try {
    for (let round = 0; round < (journeys ? 1 : ROUNDS); round++)
      for (const name of journeys ?? journeysFor(options)) await JOURNEYS[name].run(client);
  } finally {
    await stub.stop();
  }
  const failed: Failure[] = [...client.recorded]
    .filter(([id, { passed, failed }]) => passed / (passed + failed) < CHECKS[id].share)
    .map(([id]) => id);
  const slow = client.pageTimes.sort((a, b) => a - b)[Math.floor(client.pageTimes.length * 0.95)] ?? 0;
  if (slow >= options.maxPageP95Ms) failed.push("page duration");
  return { failed, client };
}

describe("a target without faults", () => {
  it("passes every required check, with samples", async () => {
    const { failed, client } = await failures({});
    expect(failed.map((id) => [id, client.recorded.get(id as CheckId)?.examples[0]])).toEqual([]);
    const required = requiredChecks("smoke", client.options).filter((id) => id !== "iteration_ok");
    expect(required.filter((id) => !client.recorded.get(id)?.passed)).toEqual([]);
  });
});

describe("an app without the console", () => {
  it("fails the checks of the console's pages if they are requested", async () => {
    const { failed } = await failures({ noConsole: true });
    expect(failed).toEqual(expect.arrayContaining(["forwarded", "redirect_ok"]));
  });

  it.each(["../README.md", "../../deploy/kubernetes/README.md"])(
    "passes with the command line of %s",
    async (readme) => {
      const text = readFileSync(join(import.meta.dirname, readme), "utf8");
      const line = text.split("\n").find((one) => /^ {4}(make loadtest|k6 archive) .*=off/.test(one)) ?? "";
      const env = Object.fromEntries(
        [...line.matchAll(/(\w+_PAGE|ECHO_PATH|PAGES)=(\S+)/g)].map(([, name, value]) => [name, value]),
      );
      expect(Object.keys(env)).toHaveLength(5);
      const { failed, client } = await failures({ noConsole: true }, undefined, env);
      expect(failed).toEqual([]);
      const required = requiredChecks("smoke", client.options).filter((id) => id !== "iteration_ok");
      expect(required.filter((id) => !client.recorded.get(id)?.passed)).toEqual([]);
    },
  );
});

describe("an injected fault", () => {
  for (const [name, { fault, detectedBy, journeys }] of Object.entries(FAULTS)) {
    it(`${name}: detected by ${detectedBy.join(", ")}`, async () => {
      const { failed } = await failures(fault, journeys);
      expect(failed).toEqual(expect.arrayContaining(detectedBy));
    });
  }
});
