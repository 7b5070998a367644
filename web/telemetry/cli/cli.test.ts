import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseSync } from "vite";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { inspect } from "./app.js";
import type { Change } from "./change.js";
import { check } from "./check.js";
import { diff } from "./diff.js";
import type { Machine } from "./edits/container.js";
import { type Fixture, fixtures, writeFixture } from "./fixtures/apps.js";
import { plan, write } from "./init.js";
import { inspectMachine } from "./machine.js";
import { needed } from "./own.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const machine: Machine = { ports: { HTTPS_PORT: 8444, HTTP_PORT: 8080, INGEST_PORT: 8969 }, buildCa: "/etc/ca.pem" };
// `make test` exports its own ports, and compose would prefer them, too.
beforeAll(() => Object.keys(machine.ports).forEach((name) => void vi.stubEnv(name, undefined)));
afterAll(() => void vi.unstubAllEnvs());

function make({ files, path }: Fixture, change: Record<string, string> = {}) {
  const root = mkdtempSync(join(tmpdir(), "culvert-cli-"));
  folders.push(root);
  const folder = writeFixture({ files: { ...files, ...change }, path }, root);
  const rows = () => Object.fromEntries(check(inspect(folder)).map((result) => [result.check, result]));
  return { root, folder, rows };
}

/** Makes an app and does what `init` plans, except the packed file: web/e2e/your-app has that. */
function initialised(fixture: Fixture, change: Record<string, string> = {}) {
  const { root, folder, rows } = make(fixture, change);
  const first = plan(folder, machine);
  write({ ...first, tarball: undefined });
  const text = (file: string) => readFileSync(join(root, file), "utf8");
  return { folder, first, text, rows };
}

function run(cwd: string, ...command: string[]) {
  const args = [`${import.meta.dirname}/../dist/cli/main.js`, ...command];
  return spawnSync(process.execPath, args, { cwd, encoding: "utf8", timeout: 600_000 });
}

const versions = (next: string, sentry: string) => ({
  "package.json": JSON.stringify({ dependencies: { next, "@sentry/nextjs": sentry } }),
});

/** The lines that differ from the file, or from the template that it is made of. */
function shown({ file, before, after }: Change): string {
  const template = `${import.meta.dirname}/templates/${basename(file)}`;
  const from = before ?? (existsSync(template) ? readFileSync(template, "utf8") : undefined);
  return [file, ...(diff({ file, before: from, after }).match(/^[-+].*\S.*/gm) ?? [])].join("\n");
}

describe("init", () => {
  test("what it changes in each app is as in init.diff, where a repeated change is only named", async () => {
    const seen = new Set<string>();
    const apps = Object.entries(fixtures).map(([name, fixture]) => {
      const { changes, commands, addresses } = plan(make(fixture).folder, machine);
      const isNew = (change: Change) => seen.size < seen.add(shown(change).replace(/.*/, "")).size;
      const fresh = changes.filter(isNew);
      const known = changes.filter((change) => !fresh.includes(change)).map(({ file }) => file);
      const next = [...commands, ...Object.values(addresses)].join(", ");
      return [`==== ${name}`, ...fresh.map(shown), `as above: ${known.join(", ")}`, `next: ${next}`, ""].join("\n");
    });
    const text = apps.join("\n").replaceAll(/-\w{8}(?=\.tgz)/g, "-<hash>");
    await expect(text).toMatchFileSnapshot("fixtures/init.diff");
  });

  test.each(Object.entries(fixtures))(
    "%s: the changes are valid code in Windows' line endings, and a second run changes nothing",
    (_, { files, path }) => {
      const ended = Object.entries(files).map(([file, text]) => [file, text.replaceAll("\n", "\r\n")]);
      const { folder, first, text, rows } = initialised({ files: Object.fromEntries(ended), path });
      for (const { file, before } of first.changes) {
        const code = text(file);
        expect(new Set(code.match(/\r?\n/g)), file).toEqual(new Set([before === undefined ? "\n" : "\r\n"]));
        if (!/\.[mc]?[jt]s$/.test(file)) continue;
        expect(parseSync(file, code).errors, code).toEqual([]);
      }
      expect(plan(folder, machine)).toMatchObject({ changes: [], byHand: [], tarball: undefined });
      expect(Object.values(rows()).filter(({ state }) => state === "failed")).toEqual([]);
    },
  );

  test.each([
    ["next.config.js", "module.exports = (phase) => ({\n  env: { phase },\n});\n"],
    ["next.config.js", "module.exports = {};\n\nmodule.exports.images = {};\n"],
    ["next.config.mjs", "export default async (phase) => {\n  return { env: { phase } };\n};\n"],
    ["next.config.mjs", "export default function () {\n  return {};\n}\n\nfunction later() {}\n"],
  ])("%s keeps its lines, and its last one exports them through withCulvert: %j", (file, before) => {
    const { "next.config.mjs": _, ...files } = fixtures["no-sentry"].files;
    const { text, first } = initialised({ files, path: "." }, { [file]: before });
    expect(first.byHand).toEqual([]);
    const kept = before.trimEnd().split("\n").slice(1);
    expect(text(file).split("\n")).toEqual(expect.arrayContaining(kept));
    expect(text(file)).toMatch(/\n(?:export default|module\.exports =) withCulvert\([\w.]+\);\n$/);
  });

  const [config, server] = ["next.config.mjs", "sentry.server.config.js"];
  test.each([
    [config, "const config = {};\n\nexport { config as default };\n", /withCulvert/],
    [config, 'export default { output: "export" };\n', /Culvert is for apps that a server renders/],
    [server, 'Sentry.init({ dsn: "https://a@b/1", tunnel: mine("/a") });\n', /remove tunnel/],
    [server, "Sentry.init({\n  debug: true,\n  tunnel,\n});\n", /remove tunnel/],
    [server, "Sentry.init(options);\n", /culvertOptions/],
    [server, "if (a) {\n  Sentry.init({ debug: true });\n} else {\n  Sentry.init({});\n}\n", /culvertOptions/],
    ["instrumentation.js", "export function register() {\n  startMetrics();\n}\n", /register/],
  ])("%s of another shape is left alone, with what to do by hand: %j", (file, before, fix) => {
    const { text, first } = initialised(fixtures["no-sentry"], { [file]: before });
    expect(text(file)).toBe(before);
    expect(first.byHand).toMatchObject([{ file, fix: expect.stringMatching(fix) }]);
  });

  test.each([
    ['{ dsn: a, tunnel: "/mine", debug: true }', "{ dsn: a, ...culvertOptions({ debug: true }) }"],
    ['{ tunnel: "/mine", debug: true }', "culvertOptions({ debug: true })"],
    ["{ dsn: a, debug: true, tunnel: process.env.TUNNEL }", "{ dsn: a, ...culvertOptions({ debug: true }) }"],
    [
      "{\n  tunnel: `http://localhost:3031/`, // proxy server\n  debug: true,\n}",
      "culvertOptions({\n  debug: true,\n})",
    ],
    ["{\n  debug: true,\n  tunnel: '/mine'\n}", "culvertOptions({\n  debug: true,\n})"],
  ])("the tunnel of Sentry.init is taken out: %j", (before, after) => {
    const { text } = initialised(fixtures["no-sentry"], { [server]: `Sentry.init(${before});\n` });
    expect(text(server)).toContain(`\nSentry.init(${after});\n`);
  });

  const at = "culvert/*.tgz";
  test.each<[lines: string, more: string, app?: "monorepo-pnpm", file?: string]>([
    ["COPY --chown=1:1 package*.json /app", `COPY --chown=1:1 ${at} /app/culvert/`],
    ['COPY ["package.json", "yarn.lock*", "./"]', `COPY ${at} ./culvert/`],
    ["COPY package.json \\\n  pnpm-lock.yaml \\\n  ./", `COPY ${at} ./culvert/`],
    ["ADD ./package.json /app/package.json", `COPY ${at} /app/culvert/`],
    ["COPY . .", ""],
    ["COPY . .\n\nFROM node\nCOPY --from=deps /app/package.json ./", ""],
    ["COPY --from=prune /src/out/json/ .", "by hand"],
    ["RUN --mount=type=bind,source=package.json,target=package.json npm ci", "by hand"],
    [
      "COPY apps/shop/package.json ./apps/shop/",
      `COPY apps/shop/${at} ./apps/shop/culvert/`,
      "monorepo-pnpm",
      "apps/shop/Dockerfile",
    ],
    ["COPY package.json pnpm-lock.yaml ./", "by hand", "monorepo-pnpm", "shop.Dockerfile"],
  ])("in a Dockerfile of the app's own: %j", (lines, more, app, file = "Dockerfile") => {
    const before = `FROM node AS deps\n${lines}\nRUN npm ci\n\nFROM deps\nCOPY . .\n`;
    const { text, first } = initialised(fixtures[app ?? "no-sentry"], { [file]: before });
    const isByHand = more === "by hand";
    expect(text(file)).toBe(more && !isByHand ? before.replace(lines, `${lines}\n${more}`) : before);
    expect(first.byHand).toMatchObject(isByHand ? [{ file, fix: expect.stringContaining(at) }] : []);
  });

  test("what is left to do by hand is said before the next commands, with status 1", () => {
    const { folder } = make(fixtures["no-sentry"], { "instrumentation.js": "export function register() {}\n" });
    const { status, stdout } = run(folder, "init", "--yes");
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /by hand, before anything else:\n {2}instrumentation\.js: .*\n {4}call register .*\n\nThen:\n/,
    );
    expect(stdout).toMatch(/Then:\n {2}npm install\n {2}npx @culvert\/nextjs check\n {2}docker compose/);
    expect(inspect(folder).culvert).toMatch(/^file:culvert\/culvert-nextjs-.*\.tgz$/);
    expect(existsSync(join(folder, inspect(folder).culvert?.replace("file:", "") ?? ""))).toBe(true);
  });

  const next = { "package.json": '{ "dependencies": { "next": "16" } }' };
  test.each([
    [{}, /no package\.json/],
    [{ "package.json": "{}" }, /does not depend on next/],
    [next, /no lockfile/],
    [{ ...next, "bun.lock": "" }, /bun\.lock is not supported/],
    [{ ...next, "yarn.lock": "" }, /no folder app or pages/],
    [{ "package.json": '{ "name": "x", }' }, /package\.json is not valid JSON/],
  ])("what is no Next app is one line: %j", (files, message) => {
    expect(() => initialised({ files, path: "." })).toThrow(message);
  });
});

test.each([
  ["next", "next 15.5 or 16", "14.2.0 ^15.3.0 16.5.0-canary.3", "latest catalog: 15 ~15.5.2 ^16.4.5"],
  ["@sentry/nextjs", "@sentry/nextjs 10.73 or 11", "10.40.0", "10.73.0 ^10.73.1 11 ^11.8.0"],
  ["react", "react 18.3 or 19", "18.2.0", "18.3.0 19.3.1"],
])("the versions of %s that the package supports", (name, need, wrong, right) => {
  for (const version of wrong.split(" ")) expect(needed(name, version), version).toBe(need);
  for (const version of right.split(" ")) expect(needed(name, version), version).toBeUndefined();
});

test("init refuses what the package does not support, before it writes", () => {
  const { folder } = make(fixtures["no-sentry"], versions("13.5.1", "10.40.0"));
  const { status, stderr } = run(folder, "init", "--yes");
  const needs = "@sentry/nextjs 10.73 or 11 instead of 10.40.0, next 15.5 or 16 instead of 13.5.1";
  expect([status, stderr]).toEqual([1, `culvert: @culvert/nextjs needs ${needs}: update and install first\n`]);
  expect(existsSync(join(folder, "culvert"))).toBe(false);
});

test("an app gets ports that no program listens on and no app beside it has", async () => {
  const { root, folder } = make({ ...fixtures["no-sentry"], path: "shop" });
  const first = await inspectMachine(folder);
  writeFixture({ files: { "shop/culvert/.env": `HTTP_PORT=${first.ports.HTTP_PORT}\n` }, path: "." }, root);
  // Or another program listens there by now.
  const other = createServer()
    .on("error", () => {})
    .listen(first.ports.HTTPS_PORT);
  const { ports } = await inspectMachine(join(root, "blog"));
  other.close();
  expect(Object.values(ports)).not.toContain(first.ports.HTTP_PORT);
  expect(Object.values(ports)).not.toContain(first.ports.HTTPS_PORT);
});

describe("check", () => {
  test("before init, each thing that is missing is a line with its fix, with status 1", () => {
    const { folder } = make(fixtures["wizard-app"]);
    const { status, stdout } = run(folder, "check");
    expect(status).toBe(1);
    for (const name of ["package", "server events", "browser events", "build", "image"])
      expect(stdout).toMatch(new RegExp(`^✗ ${name} +.*: npx @culvert/nextjs init$`, "m"));
    expect(JSON.parse(run(folder, "check", "--json").stdout).failed).toBe(stdout.match(/^✗/gm)?.length);
  });

  const action = { "app/actions.ts": '"use server";\n' };
  const old = versions("15.5.29", "11.0.0");
  const middleware = { "middleware.ts": "export default () => {};\n" };
  test.each<[name: string, result: object, change: Record<string, string>]>([
    ["next", { state: "failed" }, versions("14.2.0", "10.78.0")],
    ["base path", { state: "failed" }, { "culvert/.env": "BASE_PATH=/other\n" }],
    ["server actions", { state: "warning" }, action],
    ["server actions", { state: "ok" }, { ...action, "culvert/.env": "SERVER_ACTIONS_KEY_FILE=../key\n" }],
    ["bodies", { fix: expect.stringContaining("proxyClientMaxBodySize") }, middleware],
    ["bodies", { fix: expect.stringContaining("middlewareClient") }, { ...middleware, ...old }],
  ])("%s: %j with %j", (name, result, change) => {
    expect(make(fixtures["wizard-app"], change).rows()[name]).toMatchObject(result);
  });
});
