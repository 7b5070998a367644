import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

// Mistakes that k6 reports at run time only, or makes it hang without a message.

const root = join(import.meta.dirname, "..");
const list = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file));
const entries = readdirSync(root).filter((file) => file.endsWith(".ts") && !/\.d\.ts$|^vitest\./.test(file));
const scripts = [...entries, ...list("lib"), ...list("journeys"), ...list("suite")].filter((file) =>
  /(?<!\.test)\.ts$/.test(file),
);
const code = (file: string) => readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

describe("the files that k6 runs", () => {
  it("import only k6's modules, and files with their extension", () => {
    const foreign = scripts.flatMap((file) =>
      Array.from(code(file).matchAll(/from\s+["']([^"']+)["']/g), ([, source = ""]) => source)
        .filter((source) => !/^k6(\/[a-z]+)?$|^\.\.?\/.*\.ts$/.test(source))
        .map((source) => `${file}: ${source}`),
    );
    expect(foreign).toEqual([]);
  });

  it.each([
    ["for await", /\bfor\s+await\b/],
    ["using", /\busing\s+\w+\s*=/],
    ["accessor", /\baccessor\s+\w/],
    ["a decorator", /^\s*@\w+/m],
    ["an import attribute", /\bwith\s*\{\s*type\b/],
  ])("do not use %s, which hangs k6", (_, pattern) => {
    expect(scripts.filter((file) => pattern.test(code(file)))).toEqual([]);
  });

  it("import in one direction: suite, then journeys, then lib", () => {
    const lower = [...list("lib"), ...list("journeys")].filter((file) => file.endsWith(".ts"));
    const upward = { lib: /from "(\.\.\/)+(journeys|suite)\//, journeys: /from "\.\.\/suite\// };
    const folder = (file: string) => (file.startsWith("lib") ? "lib" : "journeys");
    expect(lower.filter((file) => upward[folder(file)].test(code(file)))).toEqual([]);
  });

  it("call no global that k6's engine lacks", () => {
    const lacking = /(?<![.\w])(URL|fetch|structuredClone|btoa|atob|performance|process|Buffer)\s*[(.]/;
    expect(scripts.filter((file) => lacking.test(code(file)))).toEqual([]);
  });
});

describe("an option", () => {
  const options = Array.from(
    code("lib/options.ts").matchAll(/\b(?:text|option|list|oneOf|number|seconds|path)\(\s*"([A-Z][A-Z0-9_]+)"/g),
    ([, name = ""]) => name,
  );

  it("has a row in the README, and is passed to k6's image", () => {
    const rows = readFileSync(join(root, "README.md"), "utf8");
    const service = readFileSync(join(root, "../docker-compose.yml"), "utf8").split("\n  loadtest:")[1] ?? "";
    expect(options.length).toBeGreaterThan(10);
    expect(options.filter((name) => !new RegExp(`\n- [^:]*\`${name}\``).test(rows))).toEqual([]);
    expect(options.filter((name) => !new RegExp(`[ {]${name}: ,?`).test(service))).toEqual([]);
  });
});
