import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const folder = resolve(import.meta.dirname, "..");
const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** The declarations that a file reaches by relative imports, itself first. */
function reached(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  for (const [, path = ""] of text.matchAll(/(?:from|import\() ?"(\.[^"]+)\.js"/g))
    reached(join(dirname(file), `${path}.d.ts`), seen);
  return seen;
}

test("the public types are those in api.d.ts.txt: `vitest -u` writes a wanted change", async () => {
  const entries = Object.values(exports).flatMap((entry) =>
    typeof entry === "object" ? [join(folder, (entry as { types: string }).types)] : [],
  );
  const files = new Set(entries.flatMap((entry) => [...reached(entry)]));
  const report = [...files].sort().map((file) => `// ${file.slice(folder.length + 6)}\n${readFileSync(file, "utf8")}`);
  await expect(report.join("\n")).toMatchFileSnapshot("api.d.ts.txt");
});

test("the packed files hold no test, no source and nothing of the console", () => {
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: folder, encoding: "utf8" }),
  );
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path);
  expect(paths).toContain("dist/server.js");
  expect(paths).toContain("README.md");
  expect(paths.filter((path) => /test|fixture|console|(?<!\.d)\.tsx?$/.test(path))).toEqual([]);
});
