import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { transpileModule } from "typescript";
import { afterEach, describe, expect, test } from "vitest";
import { DSN, type Fixture, fixtures, writeFixture } from "./fixtures/apps.js";
import { plan, write } from "./init.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Makes an app and runs `init` in it, as often as asked. `change` edits its files first. */
function initialised(fixture: Fixture, change: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), "culvert-init-"));
  folders.push(root);
  const files = { ...fixture.files, ...change };
  const folder = writeFixture({ ...fixture, files }, root);
  const first = plan(folder);
  write(first);
  const text = (file: string) => readFileSync(join(root, file), "utf8");
  return { root, first, text, changed: first.changes.map(({ file }) => file).sort(), second: plan(folder) };
}
const names = Object.keys(fixtures) as (keyof typeof fixtures)[];

describe.each(names)("%s", (name) => {
  test("init connects server, browser and build, leaves nothing by hand, and changes nothing when run again", () => {
    const { first, second, text, changed } = initialised(fixtures[name]);
    const all = changed.map(text).join("\n");
    for (const text of ["@culvert/nextjs", "@culvert/nextjs/config"]) expect(all).toContain(text);
    expect(first.byHand).toEqual([]);
    expect(second.changes).toEqual([]);
    expect(changed.filter((file) => /ockerfile$|compose\.yml$|ignore$|^\.env$/.test(file))).toHaveLength(4);
  });

  test("what init writes is valid", () => {
    const { changed, text } = initialised(fixtures[name]);
    for (const file of changed.filter((name) => /\.[mc]?[jt]s$/.test(name))) {
      const { diagnostics } = transpileModule(text(file), { reportDiagnostics: true, fileName: file });
      expect(
        diagnostics?.map(({ messageText }) => messageText),
        text(file),
      ).toEqual([]);
    }
  });
});

test("Sentry.init of the wizard: the DSN in the code counts only where no SENTRY_DSN is set, all else goes through culvertOptions", () => {
  expect(
    initialised(fixtures["wizard-app"]).text("instrumentation-client.ts"),
  ).toBe(`import { culvertOptions } from "@culvert/nextjs";
import * as Sentry from "@sentry/nextjs";

Sentry.init({
  dsn: "${DSN}",
  ...culvertOptions({
    // Define how likely traces are sampled. Adjust this value in production, or use tracesSampler for greater control.
    tracesSampleRate: 1,

    integrations: [Sentry.replayIntegration()],
    replaysOnErrorSampleRate: 1.0,
  }),
});

export const onRouterTransitionStart = Sentry.captureRouterTransitionStart;
`);
});

test("next.config of the wizard: withSentryConfig stays the app's own, and tunnelRoute is gone with its comment", () => {
  const config = initialised(fixtures["wizard-app"]).text("next.config.ts");
  expect(config).toMatch(/export default withCulvert\(withSentryConfig\([\s\S]*\}\), \{ sentry: false \}\);/);
  expect(config).not.toMatch(/tunnelRoute|ad-blockers/);
});

describe("files of other shapes", () => {
  const app = fixtures["wizard-pages"];
  const config = (text: string) => initialised(app, { "next.config.js": text });

  test.each([
    "module.exports = { reactStrictMode: true };\n",
    "module.exports = (phase) => ({\n  env: { phase },\n});\n",
    "module.exports = {}\n\n// Injected content via Sentry wizard below\n\nmodule.exports = withSentryConfig(module.exports, {\n  silent: true,\n})\n",
  ])("next.config that ends with an export is wrapped: %j", (text) => {
    const { text: read, first } = config(text);
    expect(first.byHand).toEqual([]);
    expect(read("next.config.js")).toMatch(/module\.exports = withCulvert\([\s\S]*\);\n$/);
  });

  test.each([
    "export default async function config() {\n  return {};\n}\n",
    "module.exports = {};\n\nmodule.exports.images = {};\n",
    "const config = {};\nexport { config as default };\n",
    'module.exports = { output: "export" };\n',
  ])("next.config of another shape is left alone, with what to do by hand: %j", (text) => {
    const { text: read, first } = config(text);
    expect(read("next.config.js")).toBe(text);
    expect(first.byHand).toMatchObject([{ file: "next.config.js", fix: expect.stringMatching(/withCulvert|Culvert/) }]);
  });

  const server = (text: string) => initialised(app, { "sentry.server.config.js": text });

  test("options with calls and objects stay as they are, within culvertOptions", () => {
    const options =
      "  integrations: [\n    Sentry.replayIntegration({ maskAllText: true }),\n  ],\n  beforeSend: (event) => event,\n";
    const { text: read } = server(`Sentry.init({\n${options}});\n`);
    expect(read("sentry.server.config.js")).toContain(`Sentry.init(culvertOptions({\n${options}}));\n`);
  });

  test.each([
    'Sentry.init({ dsn: "https://a@b/1", tunnel: "/mine" });\n',
    "Sentry.init({ dsn: dsnOf(region, 1) });\n",
    "Sentry.init(options);\n",
    "if (a) {\n  Sentry.init({ debug: true });\n} else {\n  Sentry.init({});\n}\n",
  ])("a Sentry.init of another shape is left alone, with what to do by hand: %j", (text) => {
    const { text: read, first } = server(text);
    expect(read("sentry.server.config.js")).toBe(text);
    expect(first.byHand).toMatchObject([
      { file: "sentry.server.config.js", fix: expect.stringMatching(/culvertOptions/) },
    ]);
  });

  test("an instrumentation that does something else is left alone", () => {
    const text = "export function register() {\n  startMetrics();\n}\n";
    const { text: read, first } = initialised(fixtures.javascript, { "instrumentation.js": text });
    expect(read("instrumentation.js")).toBe(text);
    expect(first.byHand).toMatchObject([{ file: "instrumentation.js", fix: expect.stringMatching(/register/) }]);
  });
});

test("files that the app has already keep their content and names", () => {
  const { text, first, changed } = initialised(fixtures["hand-made"]);
  expect(text("Dockerfile")).toBe("FROM node:24\n");
  expect(changed).toEqual(
    expect.arrayContaining(["culvert.Dockerfile", "culvert.Dockerfile.dockerignore", "culvert.compose.yml"]),
  );
  expect(text("culvert.compose.yml")).toContain("dockerfile: culvert.Dockerfile");
  expect(text(".env")).toMatch(/^DATABASE_URL=postgres:\/\/localhost\/shop\n\n[\s\S]*COMPOSE_PROFILES=local\n/);
  expect(first.commands).toContain("docker compose -f culvert.compose.yml up --build --wait");
});

test("the image of a monorepo is built at its root, from the app's folder, with its package manager", () => {
  const { root, first, text, changed } = initialised(fixtures["monorepo-pnpm"]);
  expect(first.app).toMatchObject({ root, path: "apps/shop", manager: "pnpm" });
  expect(changed).toEqual(expect.arrayContaining(["Dockerfile", "compose.yml", "apps/shop/next.config.mjs"]));
  expect(text("compose.yml")).toContain("args: { APP: apps/shop }");
  expect(first.commands[0]).toBe("pnpm add @culvert/nextjs");
});

test("a base path is a setting of the stack", () => {
  expect(initialised(fixtures["base-path"]).text(".env")).toMatch(/^BASE_PATH=\/shop$/m);
});

test.each([
  [{}, /no package\.json/],
  [{ "package.json": "{}" }, /does not depend on next/],
  [{ "package.json": '{ "dependencies": { "next": "16" } }' }, /no lockfile/],
  [{ "package.json": '{ "dependencies": { "next": "16" } }', "yarn.lock": "" }, /no folder app or pages/],
])("what is no Next app is one line: %j", (files, message) => {
  expect(() => initialised({ files, path: ".", page: "" })).toThrow(message);
});
