import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transpileModule } from "typescript";
import { afterEach, describe, expect, test } from "vitest";
import { inspect } from "./app.js";
import { check, format } from "./check.js";
import { DSN, type Fixture, fixtures, writeFixture } from "./fixtures/apps.js";
import { plan, write } from "./init.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Makes an app; `change` replaces some of its files. */
function make(fixture: Fixture, change: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), "culvert-cli-"));
  folders.push(root);
  const folder = writeFixture({ ...fixture, files: { ...fixture.files, ...change } }, root);
  const rows = () => Object.fromEntries(check(inspect(folder)).map((result) => [result.check, result]));
  return { root, folder, rows };
}

/** Makes an app and runs `init` in it. */
function initialised(fixture: Fixture, change: Record<string, string> = {}) {
  const { root, folder, rows } = make(fixture, change);
  const first = plan(folder);
  write(first);
  const text = (file: string) => readFileSync(join(root, file), "utf8");
  return { root, folder, first, text, rows, changed: first.changes.map(({ file }) => file) };
}

describe("init", () => {
  test.each(Object.entries(fixtures))(
    "%s: server, browser, build and image are connected by valid code, and a second run changes nothing",
    (_, fixture) => {
      const { folder, first, text, rows, changed } = initialised(fixture);
      expect(first.byHand).toEqual([]);
      expect(changed.filter((file) => /ockerfile$|compose\.yml$|ignore$|^\.env$/.test(file))).toHaveLength(4);
      for (const file of changed.filter((name) => /\.[mc]?[jt]s$/.test(name))) {
        expect(text(file)).toContain("@culvert/nextjs");
        const { diagnostics } = transpileModule(text(file), { reportDiagnostics: true, fileName: file });
        expect(diagnostics, text(file)).toEqual([]);
      }
      expect(plan(folder).changes).toEqual([]);
      const failed = Object.values(rows()).filter(({ state }) => state === "failed");
      expect(failed).toMatchObject([{ check: "package" }]);
    },
  );

  test("of the wizard, the DSN counts only where no SENTRY_DSN is set, withSentryConfig stays the app's own, and tunnelRoute is gone", () => {
    const { text } = initialised(fixtures["wizard-app"]);
    const client = text("instrumentation-client.ts");
    expect(client).toContain(`Sentry.init({\n  dsn: "${DSN}",\n  ...culvertOptions({\n    // Define`);
    expect(client).toMatch(
      /\n {4}integrations: \[.+\],\n {4}replaysOnErrorSampleRate: 1.0,\n {2}\}\),\n\}\);\n\nexport const/,
    );
    const config = text("next.config.ts");
    expect(config).toMatch(/export default withCulvert\(withSentryConfig\([\s\S]*\}\), \{ sentry: false \}\);/);
    expect(config).not.toMatch(/tunnelRoute|ad-blockers/);
  });

  test.each([
    "module.exports = (phase) => ({\n  env: { phase },\n});\n",
    "module.exports = {}\n\n// Injected content via Sentry wizard below\n\nmodule.exports = withSentryConfig(module.exports, {\n  silent: true,\n})\n",
  ])("next.config that ends with an export is wrapped: %j", (before) => {
    const { text, first } = initialised(fixtures["wizard-pages"], { "next.config.js": before });
    expect(first.byHand).toEqual([]);
    expect(text("next.config.js")).toMatch(/module\.exports = withCulvert\([\s\S]*\);\n$/);
  });

  const [config, server] = ["next.config.js", "sentry.server.config.js"];
  test.each([
    [config, "export default async function config() {\n  return {};\n}\n", /withCulvert/],
    [config, "module.exports = {};\n\nmodule.exports.images = {};\n", /withCulvert/],
    [config, 'module.exports = { output: "export" };\n', /Culvert is for apps that a server renders/],
    [server, 'Sentry.init({ dsn: "https://a@b/1", tunnel: "/mine" });\n', /culvertOptions/],
    [server, "Sentry.init(options);\n", /culvertOptions/],
    [server, "if (a) {\n  Sentry.init({ debug: true });\n} else {\n  Sentry.init({});\n}\n", /culvertOptions/],
    ["instrumentation.js", "export function register() {\n  startMetrics();\n}\n", /register/],
  ])("%s of another shape is left alone, with what to do by hand: %j", (file, before, fix) => {
    const { text, first } = initialised(fixtures.javascript, { [file]: before });
    expect(text(file)).toBe(before);
    expect(first.byHand).toMatchObject([{ file, fix: expect.stringMatching(fix) }]);
  });

  test("files that the app has already keep their content and names", () => {
    const { text, first } = initialised(fixtures["hand-made"]);
    expect(text("Dockerfile")).toBe("FROM node:24\n");
    expect(text("culvert.compose.yml")).toContain("dockerfile: culvert.Dockerfile");
    expect(text(".env")).toMatch(/^DATABASE_URL=\S+\n\n.*COMPOSE_PROFILES=local\n.*BASE_PATH=\/shop\n$/s);
    expect(first.commands).toContain("docker compose -f culvert.compose.yml up --build --wait");
  });

  test("the image of a monorepo is built at its root, from the app's folder, with its package manager", () => {
    const { root, first, text, changed } = initialised(fixtures["monorepo-pnpm"]);
    expect(first.app).toMatchObject({ root, path: "apps/shop", manager: "pnpm" });
    expect(changed).toEqual(expect.arrayContaining(["Dockerfile", "apps/shop/next.config.mjs"]));
    expect(text("compose.yml")).toContain("args: { APP: apps/shop }");
    expect(first.commands[0]).toBe("pnpm add @culvert/nextjs");
  });

  test.each([
    [{}, /no package\.json/],
    [{ "package.json": "{}" }, /does not depend on next/],
    [{ "package.json": '{ "dependencies": { "next": "16" } }' }, /no lockfile/],
    [{ "package.json": '{ "dependencies": { "next": "16" } }', "yarn.lock": "" }, /no folder app or pages/],
  ])("what is no Next app is one line: %j", (files, message) => {
    expect(() => initialised({ files, path: "." })).toThrow(message);
  });
});

describe("check", () => {
  test("before init, each thing that is missing is a row with its fix", () => {
    const rows = make(fixtures["wizard-app"]).rows();
    for (const name of ["server events", "browser events", "build", "image"])
      expect(rows[name]).toMatchObject({ state: "failed", fix: "npx @culvert/nextjs init" });
    expect(rows.package).toMatchObject({ state: "failed", fix: "install @culvert/nextjs" });
  });

  const versions = (next: string, sentry: string) => ({
    "package.json": JSON.stringify({ dependencies: { next, "@sentry/nextjs": sentry } }),
  });
  const action = { "app/actions.ts": '"use server";\n' };
  test.each<[name: string, state: string, change: Record<string, string>]>([
    ["next", "unknown", versions("14.2.0", "10.78.0")],
    ["sentry", "failed", versions("16.4.5", "10.60.0")],
    ["sentry", "ok", versions("^16.4.5", "^11.8.0")],
    ["base path", "failed", { ".env": "BASE_PATH=/other\n" }],
    ["server actions", "unknown", action],
    ["server actions", "ok", { ...action, ".env": "SERVER_ACTIONS_KEY_FILE=../key\n" }],
    ["bodies", "unknown", { "middleware.ts": "export default () => {};\n" }],
  ])("%s: %s with %j", (name, state, change) => {
    expect(initialised(fixtures["wizard-app"], change).rows()[name]).toMatchObject({ state });
  });

  test("the output is a line for each row, or JSON", () => {
    const result = {
      check: "build",
      state: "failed",
      found: "not standalone",
      fix: "npx @culvert/nextjs init",
    } as const;
    expect(format([result])).toBe("✗ build             not standalone: npx @culvert/nextjs init");
    expect(JSON.parse(format([result], true))).toEqual({ failed: 1, checks: [result] });
  });
});
