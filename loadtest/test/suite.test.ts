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

it("puts ids in no tag, not even those of a failure", async () => {
  const fault = { request: ({ headers }: { headers: object }) => Object.assign(headers, { "sentry-trace": "" }) };
  expect((await run("smoke", fault)).code).toBe(99);
  // Each sample of an iteration says whose it is.
  const others = samples.filter(({ metric, tags }) => !tags.journey && !/^(http_req|iterations)/.test(metric));
  expect(others).toEqual([]);
  expect(samples.flatMap(({ tags }) => Object.values(tags)).filter((value) => /[0-9a-f]{8}/.test(value))).toEqual([]);
});

it("fails if a journey throws, though all other checks pass", async () => {
  vi.spyOn(JOURNEYS.redirect, "run").mockRejectedValueOnce(new Error("broken"));
  const log = vi.spyOn(console, "error").mockReturnValue();
  const { summary, output, code } = await run("smoke", {}, { JOURNEYS: "redirect" });
  expect([summary?.result, code]).toEqual(["integrity", 99]);
  const failed = summary?.checks.filter(({ result }) => result !== "passed");
  expect(failed).toMatchObject([{ id: "iteration_ok", failed: 1 }]);
  // Without a reader, k6's log has the text alone.
  expect(log.mock.calls).toEqual([["iteration_ok: redirect: Error: broken"]]);
  expect(output).toContain("its failures are in k6's log");
});

it("judges no answer that it did not get: an overload breaks no integrity", async () => {
  const overload: Fault = {
    response: (answer, { count }) => count > 1 && count % 3 === 0 && Object.assign(answer, { status: 503, body: "" }),
  };
  const { summary } = await run("smoke", overload);
  expect(summary).toMatchObject({ result: "availability", integrity: { broken: 0 } });
});

it("stops before any load, and says why", async () => {
  const { code, output, summary } = await run("average", {}, { INGEST: "http://127.0.0.1:1" });
  expect([code, output]).toEqual([108, expect.stringMatching(/^INGEST http:\/\/127.0.0.1:1 does not answer/)]);
  expect(summary).toMatchObject({ result: "not run", problem: output });
  await expect(run("nope")).rejects.toThrow(/^PROFILE "nope" is not a profile: use smoke, average/);
  await expect(run("smoke", {}, { BASE_URL: "" })).rejects.toThrow(/^BASE_URL is not set: give the origin/);
});

it("stops if the reader does, whatever the target answered: our own tools break no integrity", async () => {
  const reader = await startReader();
  const fault: Fault = { response: (_, { path }) => path.startsWith("/monitoring") && reader.stop() };
  const { code, output, summary } = await run("smoke", fault, { INGEST: reader.url, JOURNEYS: "envelopes" });
  expect([code, output]).toEqual([108, expect.stringMatching(/^INGEST .* does not answer/)]);
  expect(summary).toMatchObject({
    result: "not run",
    problem: `INGEST ${reader.url} failed during the run: see k6's log`,
  });
});
