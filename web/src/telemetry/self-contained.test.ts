import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const folder = import.meta.dirname;
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(?<!\.test)\.tsx?$/.test(file),
);

/** The relative imports of a file. */
function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return Array.from(text.matchAll(/(?:from|import) ?\(?"(\.[^"]*)"/g), ([, path = ""]) => path);
}

test("the folder can be copied into another app: it imports nothing from the rest of this one", () => {
  expect(files.length).toBeGreaterThan(20);
  const outside = files.flatMap((file) => {
    return importsOf(resolve(folder, file))
      .filter((path) => relative(folder, resolve(folder, dirname(file), path)).startsWith(".."))
      .map((path) => `${file}: ${path}`);
  });
  expect(outside).toEqual([]);
});

/** The files and folders that the README says to copy whole. */
function copiedByReadme(): string[] {
  const web = resolve(folder, "../..");
  const readme = readFileSync(resolve(web, "README.md"), "utf8");
  const [, section = ""] = readme.split("\n## Copying the telemetry into your app\n");
  const [list = ""] = section.split("\n\nChange freely");
  const steps = list.split(/^\d\. /m).slice(1);
  const names = steps
    .filter((step) => !step.startsWith("From "))
    .flatMap((step) => Array.from(step.matchAll(/`([^`]+(?:\.\w+|telemetry))`/g), ([, name = ""]) => name));
  return names.map((name) => {
    const found = ["", "src/app", "src/ui"].map((parent) => resolve(web, parent, name)).find(existsSync);
    if (!found) throw new Error(`README.md: ${name} does not exist`);
    return found;
  });
}

test("the files that the README says to copy import nothing but each other", () => {
  const copied = copiedByReadme();
  expect(copied.length).toBeGreaterThan(8);
  const isCopied = (path: string) =>
    copied.some((one) => ["", ".ts", ".tsx"].some((end) => path + end === one) || path.startsWith(`${one}/`));
  const missing = copied
    .filter((file) => file !== folder && !file.endsWith(".css"))
    .flatMap((file) =>
      importsOf(file)
        .filter((path) => !isCopied(resolve(dirname(file), path)))
        .map((path) => `${relative(folder, file)}: ${path}`),
    );
  expect(missing).toEqual([]);
});
