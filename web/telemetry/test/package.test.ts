import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const run = (file: string, ...args: string[]) =>
  execFileSync(file, args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
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

describe("the packed file", () => {
  const target = mkdtempSync(join(tmpdir(), "culvert-pack-"));
  const [packed] = JSON.parse(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", target));
  const tarball = join(target, packed.filename);
  afterAll(() => rmSync(target, { recursive: true }));

  test("holds no test, no source and nothing of the console", () => {
    const paths: string[] = packed.files.map(({ path }: { path: string }) => path);
    expect(paths).toContain("dist/server.js");
    expect(paths).toContain("README.md");
    expect(paths.filter((path) => /test|fixture|console|(?<!\.d)\.tsx?$/.test(path))).toEqual([]);
  });

  test("publint finds nothing", () => {
    run("publint", "run", tarball, "--strict");
  });

  test("Are The Types Wrong finds nothing", () => {
    // The package has ES modules only. `require` loads them in each Node version of `engines`, which the ignored rule does not know.
    run("attw", tarball, "--ignore-rules", "cjs-resolves-to-esm");
  });
});
