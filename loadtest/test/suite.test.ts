import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { JOURNEYS } from "../journeys/index.ts";
import { kinds, samples } from "./k6-shim.ts";
import { DECLARED, runShim, startReader } from "./run-suite.ts";
import { type Fault, startStub } from "./stub.ts";

async function run(profile: string, fault: Fault = {}, env: Record<string, string> = {}) {
  return runShim(profile, { ...DECLARED, BASE_URL: await startStub(fault), ...env });
}
afterEach(() => void vi.restoreAllMocks());

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

const root = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const scripts = ["lib", "journeys", "suite"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((file) => join(folder, file)),
);

it("the files that k6 runs have no syntax that hangs it without a message", () => {
  const hangs = /^(?!.*\/[/*]).*(\bfor await\b|\busing \w+ =|\baccessor \w|^\s*@\w+|\bwith \{ type\b)/m;
  expect(scripts.filter((file) => !file.endsWith(".test.ts") && hangs.test(read(file)))).toEqual([]);
});

/** What Prometheus gets of k6's own metrics: https://grafana.com/docs/k6/latest/using-k6/metrics/reference/ */
const BUILT_IN = /^(checks_rate|(dropped_)?iterations_total|http_reqs_total|vus|http_req_\w+_p99)$/;

it("the dashboard names metrics and tags that a run has", async () => {
  await run("average", {}, { JOURNEYS: "browse" });
  const suffix: Record<string, string> = { Counter: "total", Rate: "rate", Trend: "p99" };
  const metrics = [...kinds].map(([name, kind]) => `${name}_${suffix[kind]}`);
  const panels = read("grafana.json");
  const named = Array.from(panels.matchAll(/\bk6_(\w+)/g), ([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !metrics.includes(name) && !BUILT_IN.test(name))).toEqual([]);
  const tags = new Set(["profile", ...samples.flatMap(({ tags }) => Object.keys(tags))]);
  const grouped = Array.from(panels.matchAll(/by \(([\w, ]+)\)/g), ([, names = ""]) => names.split(", ")).flat();
  expect(grouped.filter((name) => !tags.has(name))).toEqual([]);
});

it("an option has a row in the README", () => {
  const names = /\b(?:text|option|list|oneOf|number|seconds|path)\(\s*"([A-Z][A-Z0-9_]+)"/g;
  const options = Array.from(read("lib/options.ts").matchAll(names), ([, name = ""]) => name);
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((name) => !new RegExp(`\n- [^:]*\`${name}\``).test(read("README.md")))).toEqual([]);
});
