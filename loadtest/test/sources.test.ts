import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds, samples } from "./k6-shim.ts";
import { DECLARED, runShim } from "./run-suite.ts";
import { startStub } from "./stub.ts";

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
  const stub = await startStub();
  await runShim("average", { ...DECLARED, BASE_URL: stub.url, JOURNEYS: "browse" }, 1);
  stub.stop();
  const suffix: Record<string, string> = { Counter: "total", Rate: "rate", Trend: "p99" };
  const own = [...kinds].map(([name, kind]) => `${name}_${suffix[kind]}`);
  const panels = read("grafana.json");
  const named = Array.from(panels.matchAll(/\bk6_(\w+)/g), ([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !own.includes(name) && !BUILT_IN.test(name))).toEqual([]);
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
