import { afterEach, expect, it, vi } from "vitest";
import { JOURNEYS } from "../journeys/index.ts";
import { samples } from "./k6-shim.ts";
import { DECLARED, runShim, startReader } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

let stub: Awaited<ReturnType<typeof startStub>>;
async function run(profile: string, fault: Fault = {}, env: Record<string, string> = {}) {
  stub = await startStub(fault);
  return runShim(profile, { ...DECLARED, BASE_URL: stub.url, ...env });
}
afterEach(() => {
  vi.restoreAllMocks();
  stub.stop();
});

it("puts ids in no tag but that of a failure", async () => {
  const fault = { request: ({ headers }: { headers: object }) => Object.assign(headers, { "sentry-trace": "" }) };
  expect((await run("smoke", fault)).code).toBe(99);
  const others = samples.filter(({ metric }) => metric !== "group_duration");
  expect(others.flatMap(({ tags }) => Object.values(tags)).filter((value) => /[0-9a-f]{8}/.test(value))).toEqual([]);
});

it("fails if a journey throws, though all other checks pass", async () => {
  vi.spyOn(JOURNEYS.redirect, "run").mockRejectedValueOnce(new Error("broken"));
  const { summary, code } = await run("smoke", {}, { JOURNEYS: "redirect" });
  expect([summary?.result, code]).toEqual(["integrity", 99]);
  const failed = summary?.checks.filter(({ result }) => result !== "passed");
  expect(failed).toMatchObject([{ id: "iteration_ok", failed: 1, examples: [{ text: "redirect: Error: broken" }] }]);
});

it("judges no answer that it did not get: an overload breaks no integrity", async () => {
  const overload: Fault = {
    response: (answer, { count }) => count > 1 && count % 3 === 0 && Object.assign(answer, { status: 503, body: "" }),
  };
  const { summary } = await run("smoke", overload);
  expect(summary).toMatchObject({ result: "availability", integrity: { broken: 0 } });
});

it.each<[string, Record<string, string>, RegExp]>([
  ["average", { INGEST: "http://127.0.0.1:1" }, /^INGEST http:\/\/127.0.0.1:1 does not answer/],
  ["nope", {}, /^PROFILE "nope" is not a profile: use smoke, average/],
])("stops %s before any load: %j", async (profile, env, words) => {
  await expect(run(profile, {}, env)).rejects.toThrow(words);
});

it("stops if the reader does, whatever the target answered: our own tools break no integrity", async () => {
  const reader = await startReader();
  const fault: Fault = { response: (_, { path }) => path.startsWith("/monitoring") && reader.stop() };
  const stopped = run("smoke", fault, { INGEST: reader.url, JOURNEYS: "envelopes" });
  await expect(stopped).rejects.toThrow(/^INGEST .* does not answer/);
});
