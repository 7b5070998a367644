import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const scripts = ["lib", "journeys", "suite"].flatMap((folder) =>
  readdirSync(join(root, folder)).map((file) => join(folder, file)),
);

it("the files that k6 runs have no syntax that hangs it without a message", () => {
  const hangs = /^(?!.*\/[/*]).*(\bfor await\b|\busing \w+ =|\baccessor \w|^\s*@\w+|\bwith \{ type\b)/m;
  expect(scripts.filter((file) => !file.endsWith(".test.ts") && hangs.test(read(file)))).toEqual([]);
});

it("an option has a row in the README", () => {
  const names = /\b(?:text|option|list|oneOf|number|seconds|path)\(\s*"([A-Z][A-Z0-9_]+)"/g;
  const options = Array.from(read("lib/options.ts").matchAll(names), ([, name = ""]) => name);
  expect(options.length).toBeGreaterThan(10);
  expect(options.filter((name) => !new RegExp(`\n- [^:]*\`${name}\``).test(read("README.md")))).toEqual([]);
});
