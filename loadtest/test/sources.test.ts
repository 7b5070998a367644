import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const list = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
const entries = readdirSync(root).filter((file) => file.endsWith(".ts") && !/\.d\.ts$|^vitest\./.test(file));
const scripts = [...entries, ...list("lib"), ...list("journeys"), ...list("suite")].filter((file) =>
  /(?<!\.test)\.ts$/.test(file),
);
const code = (file: string) => readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

// Mistakes that k6 reports at run time only, or hangs without a message.
it.each([
  [
    "imports other than k6's modules, and files with their extension",
    /from\s+["'](?!k6(\/[a-z]+)?["']|\.\.?\/.*\.ts["'])/,
  ],
  ["syntax that hangs k6", /\bfor\s+await\b|\busing\s+\w+\s*=|\baccessor\s+\w|^\s*@\w+|\bwith\s*\{\s*type\b/m],
  [
    "a global that k6's engine lacks",
    /(?<![.\w])(URL|fetch|structuredClone|btoa|atob|performance|process|Buffer)\s*[(.]/,
  ],
])("the files that k6 runs have no %s", (_, pattern) => {
  expect(scripts.filter((file) => pattern.test(code(file)))).toEqual([]);
});

it("an option has a row in the README, and is passed to k6's image", () => {
  const names = /\b(?:text|option|list|oneOf|number|seconds|path)\(\s*"([A-Z][A-Z0-9_]+)"/g;
  const options = Array.from(code("lib/options.ts").matchAll(names), ([, name = ""]) => name);
  const rows = readFileSync(join(root, "README.md"), "utf8");
  const service = readFileSync(join(root, "../docker-compose.yml"), "utf8").split("\n  loadtest:")[1] ?? "";
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((name) => !new RegExp(`\n- [^:]*\`${name}\``).test(rows))).toEqual([]);
  expect(options.filter((name) => !new RegExp(`[ {]${name}: ,?`).test(service))).toEqual([]);
});
