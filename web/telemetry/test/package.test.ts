import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";

const cwd = resolve(import.meta.dirname, "..");
const run = (file: string, ...args: string[]) => execFileSync(file, args, { cwd, encoding: "utf8", stdio: "pipe" });

const target = mkdtempSync(join(tmpdir(), "culvert-pack-"));
const [packed] = JSON.parse(run("npm", "pack", "--json", "--ignore-scripts", "--pack-destination", target));
const tarball = join(target, packed.filename);
afterAll(() => rmSync(target, { recursive: true }));

test("the packed file holds no test, no source and nothing of the console", () => {
  const paths: string[] = packed.files.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(expect.arrayContaining(["dist/server.js", "README.md"]));
  expect(paths.filter((path) => /test|fixture|console|(?<!\.d)\.tsx?$/.test(path))).toEqual([]);
});

test("publint finds nothing", () => void run("publint", "run", tarball, "--strict"));

// The package has ES modules only. `require` loads them in each Node version of `engines`, which the ignored rule does not know.
test("Are The Types Wrong finds nothing", () => void run("attw", tarball, "--ignore-rules", "cjs-resolves-to-esm"));
