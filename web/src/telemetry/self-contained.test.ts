import { readdirSync, readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, test } from "vitest";

const folder = import.meta.dirname;
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(?<!\.test)\.tsx?$/.test(file),
);

test("the folder can be copied into another app: it imports nothing from the rest of this one", () => {
  expect(files.length).toBeGreaterThan(20);
  const outside = files.flatMap((file) => {
    const text = readFileSync(resolve(folder, file), "utf8");
    const imports = Array.from(text.matchAll(/(?:from|import) ?\(?"(\.[^"]*)"/g), ([, path = ""]) => path);
    return imports
      .filter((path) => relative(folder, resolve(folder, dirname(file), path)).startsWith(".."))
      .map((path) => `${file}: ${path}`);
  });
  expect(outside).toEqual([]);
});
