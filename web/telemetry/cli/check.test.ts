import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { inspect } from "./app.js";
import { check, format } from "./check.js";
import { fixtures, writeFixture } from "./fixtures/apps.js";
import { plan, write } from "./init.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Makes an app with these files, connects it if asked, and returns the rows of `check` by name. */
function rows(files: Record<string, string>, isConnected: boolean, name: keyof typeof fixtures = "wizard-app") {
  const root = mkdtempSync(join(tmpdir(), "culvert-check-"));
  folders.push(root);
  const folder = writeFixture({ ...fixtures[name], files: { ...fixtures[name].files, ...files } }, root);
  if (isConnected) write(plan(folder));
  return Object.fromEntries(check(inspect(folder)).map((result) => [result.check, result]));
}
const manifest = (next: string, sentry: string) =>
  JSON.stringify({ dependencies: { next, "@sentry/nextjs": sentry, "@culvert/nextjs": "1.0.0" } });

test("before init, each thing that is missing is a row with its fix", () => {
  const found = rows({}, false);
  for (const name of ["server events", "browser events", "build", "image"])
    expect(found[name]).toMatchObject({ state: "failed", fix: "npx @culvert/nextjs init" });
  expect(found.package).toMatchObject({ state: "failed", fix: "install @culvert/nextjs" });
});

describe.each(Object.keys(fixtures) as (keyof typeof fixtures)[])("%s", (name) => {
  test("after init, only the package has to be installed", () => {
    const failed = Object.values(rows({}, true, name)).filter(({ state }) => state === "failed");
    expect(failed.map((row) => row.check)).toEqual(["package"]);
  });
});

test.each([
  ["next", "unknown", { "package.json": manifest("14.2.0", "10.78.0") }],
  ["sentry", "failed", { "package.json": manifest("16.4.5", "9.1.0") }],
  ["sentry", "failed", { "package.json": manifest("16.4.5", "10.60.0") }],
  ["sentry", "ok", { "package.json": manifest("^16.4.5", "^11.8.0") }],
  [
    "base path",
    "failed",
    { "next.config.ts": 'export default { basePath: "/shop" };\n', ".env": "BASE_PATH=/other\n" },
  ],
  ["server actions", "unknown", { "app/actions.ts": '"use server";\n' }],
  ["server actions", "ok", { "app/actions.ts": '"use server";\n', ".env": "SERVER_ACTIONS_KEY_FILE=../key\n" }],
  ["bodies", "unknown", { "middleware.ts": "export default () => {};\n" }],
  ["health", "ok", { "app/healthz/route.ts": "export const GET = () => new Response();\n" }],
] as const)("%s: %s with %j", (name, state, files) => {
  expect(rows(files, true)[name]).toMatchObject({ check: name, state });
});

test("the output is a line for each row, or JSON", () => {
  const result = { check: "build", state: "failed", found: "not standalone", fix: "npx @culvert/nextjs init" } as const;
  expect(format([result])).toBe("✗ build             not standalone: npx @culvert/nextjs init");
  expect(JSON.parse(format([result], true))).toEqual({ failed: 1, checks: [result] });
});
