import { readdirSync } from "node:fs";
import { join } from "node:path";
import { defaults } from "../settings/defaults.js";
import { type App, findSource, read } from "./app.js";
import { isChange, type Step } from "./change.js";
import { container, type Machine, settingIn } from "./edits/container.js";
import { basePathOf, nextConfig } from "./edits/next-config.js";
import { ownDockerfiles } from "./edits/own-dockerfile.js";
import { isOutside } from "./edits/packages.js";
import { telemetry } from "./edits/telemetry.js";
import { needed } from "./own.js";

/** One row, like those of `make check-app`. `warning`: only you can judge it, or it will hurt. */
export interface Result {
  check: string;
  state: "ok" | "failed" | "warning";
  found: string;
  fix?: string;
}

const INIT = "npx @culvert/nextjs init";
const ok = (check: string, found: string): Result => ({ check, state: "ok", found });
const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });
const warning = (check: string, found: string, fix: string): Result => ({ check, state: "warning", found, fix });

/** Takes an app and returns what `init` would still change, and what else its image and its releases need. */
export function check(app: App): Result[] {
  return [
    ...versions(app),
    packaged(app),
    connected("server events", telemetry(app, "server"), "through the proxy, else the spool"),
    connected("browser events", telemetry(app, "browser"), "through the tunnel of the proxy"),
    connected("build", nextConfig(app), "standalone, by withCulvert"),
    connected("image", image(app), "Dockerfile and compose file"),
    basePath(app),
    health(app),
    ...actions(app),
    ...bodies(app),
  ];
}

function versions({ versions }: App): Result[] {
  return ["next", "react", "@sentry/nextjs"].flatMap((name) => {
    const version = versions[name];
    const check = name.replace(/^@|\/.*/g, "");
    const need = needed(name, version ?? "0");
    if (!need) return [ok(check, version ?? "")];
    // Next has a React of its own in the App Router.
    if (!version && name === "react") return [];
    return [failed(check, version ?? `${name} is not installed`, `install ${need}`)];
  });
}

function packaged(app: App): Result {
  const found = app.versions["@culvert/nextjs"];
  if (!found) return failed("package", "package.json does not have @culvert/nextjs", INIT);
  if (isOutside(app)) return failed("package", `${app.culvert} is outside of what the image is built from`, INIT);
  return ok("package", found);
}

/** The files of the image and the stack that do not exist; .env is of one machine. */
const image = (app: App): Step[] => [
  ...container(app, NO_MACHINE).filter(({ file }) => !file.endsWith(".env")),
  ...ownDockerfiles(app),
];
const NO_MACHINE: Machine = { ports: { HTTPS_PORT: 0, HTTP_PORT: 0, INGEST_PORT: 0 }, buildCa: undefined };

function connected(name: string, steps: Step[], found: string): Result {
  const [step] = steps;
  if (!step) return ok(name, found);
  if (!isChange(step)) return failed(name, `${step.file}: ${step.problem}`, step.fix);
  return failed(name, `${step.file} ${step.before === undefined ? "does not exist" : "is not connected"}`, INIT);
}

function basePath(app: App): Result {
  const built = basePathOf(app) ?? "";
  const set = settingIn(app, "BASE_PATH") ?? "";
  return built === set
    ? ok("base path", built || "none")
    : failed("base path", `next.config has '${built}', BASE_PATH is '${set}'`, `BASE_PATH=${built} in culvert/.env`);
}

function health(app: App): Result {
  const path = settingIn(app, "HEALTH_PATH") ?? defaults.HEALTH_PATH;
  const route =
    findSource(app, join(app.sources, "app", path), "route") ?? findSource(app, join(app.sources, "pages"), path);
  return ok("health", route ?? `no ${path}: any status below 500 is healthy, 404 too`);
}

/** Open pages call the server actions of the next release only if all builds have one key. */
function actions(app: App): Result[] {
  if (!someSource(app, /^\s*["']use server["']/m)) return [ok("server actions", "none")];
  if (settingIn(app, "SERVER_ACTIONS_KEY_FILE")) return [ok("server actions", "one key for all builds")];
  const fix =
    "openssl rand -base64 32 > ../server-actions.key, and SERVER_ACTIONS_KEY_FILE=../server-actions.key in .env";
  return [warning("server actions", "a key of each build: open pages cannot call those of the next release", fix)];
}

/** Behind middleware, Next cuts bodies off at 10 MB, silently. */
function bodies(app: App): Result[] {
  const [file] = ["proxy", "middleware"].flatMap((name) => findSource(app, app.sources, name) ?? []);
  const config = read(app, findSource(app, app.path, "next.config")) ?? "";
  if (!file || /(?:proxy|middleware)ClientMaxBodySize/.test(config)) return [];
  // Next 16 has both files, and deprecates the option of Next 15.
  const name = /^\D*15\b/.test(app.versions.next ?? "") ? "middlewareClientMaxBodySize" : "proxyClientMaxBodySize";
  const fix = `experimental: { ${name}: "100mb" } in next.config, or MAX_BODY_SIZE=10m`;
  return [warning("bodies", `Next cuts those above 10 MB silently behind ${file}`, fix)];
}

/** Whether a source file of the app matches. Links are not followed. */
function someSource(app: App, pattern: RegExp, folder = app.path): boolean {
  return readdirSync(join(app.root, folder), { withFileTypes: true }).some((entry) => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return !/^(?:node_modules$|\.)/.test(entry.name) && someSource(app, pattern, file);
    return entry.isFile() && /\.[mc]?[jt]sx?$/.test(entry.name) && pattern.test(read(app, file) ?? "");
  });
}

const symbols = { ok: "✓", failed: "✗", warning: "!" } as const;

/** Returns a line for each result, or one JSON document, much as `make check-app` prints them. */
export function format(checks: Result[], json = false): string {
  const failed = checks.filter(({ state }) => state === "failed").length;
  if (json) return JSON.stringify({ failed, checks }, null, 2);
  const line = ({ check, state, found, fix }: Result) =>
    `${symbols[state]} ${check.padEnd(17)} ${found}${fix ? `: ${fix}` : ""}`;
  return checks.map(line).join("\n");
}
