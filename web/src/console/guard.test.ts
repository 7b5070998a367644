import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const routes = fileURLToPath(new URL("../app/(console)", import.meta.url));
const files = readdirSync(routes, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

test.each(files)("%s: each function that a request can reach begins with the guard", (file) => {
  const [, ...functions] = readFileSync(`${routes}/${file}`, "utf8").split(
    /^export (?:default )?(?:async )?function /m,
  );
  expect(functions.length).toBeGreaterThan(0);
  for (const text of functions) expect(text.slice(text.indexOf("{\n"))).toMatch(/^{\n {2}requireConsole\(\);\n/);
});
