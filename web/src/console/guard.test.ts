import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const routes = fileURLToPath(new URL("../app/(console)", import.meta.url));
const files = readdirSync(routes, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

const isGuarded = (text: string) => /^{\n {2}await requireConsole\(\);\n/.test(text.slice(text.indexOf("{\n")));

test.each(files)("%s: each function that runs for a request begins with the guard", (file) => {
  const [, ...functions] = readFileSync(`${routes}/${file}`, "utf8").split(/^(?=(?:export .*|async )?function )/m);
  expect(functions.some(isGuarded)).toBe(true);
  // Others are in the static shell, which Next builds without a request.
  for (const text of functions.filter((one) => !isGuarded(one)))
    expect(text).not.toMatch(/\b(?:async|await|GET|POST)\b|settings\(/);
});
