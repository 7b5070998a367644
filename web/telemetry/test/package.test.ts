import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const run = (file: string, ...args: string[]) =>
  execFileSync(file, args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
const folder = resolve(import.meta.dirname, "..");

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
