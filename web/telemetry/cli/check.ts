import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type App, findSource, read } from "./app.js";
import { isChange, type Step } from "./change.js";
import { container, settingIn } from "./edits/container.js";
import { basePathOf, nextConfig } from "./edits/next-config.js";
import { telemetry } from "./edits/telemetry.js";

/** One row. `unknown`: it could not be decided from the sources, which is no failure. Names and states are those of `make check-app`. */
export interface Result {
  check: string;
  state: "ok" | "failed" | "unknown";
  found: string;
  fix?: string;
}

const ok = (check: string, found: string): Result => ({ check, state: "ok", found });
const failed = (check: string, found: string, fix: string): Result => ({ check, state: "failed", found, fix });
const unknown = (check: string, found: string, fix: string): Result => ({ check, state: "unknown", found, fix });

/** Takes an app and returns what `init` would still change, and what else its image and its releases need. */
export function check(app: App): Result[] {
  return [
    ...versions(app),
    connected("server events", telemetry(app, "server"), "through the proxy, else the spool"),
    connected("browser events", telemetry(app, "browser"), "through the tunnel of the proxy"),
    connected("build", nextConfig(app), "standalone, by withCulvert"),
    connected("image", container(app).steps, "Dockerfile and compose file"),
    basePath(app),
    health(app),
    ...actions(app),
    ...bodies(app),
  ];
}

/** What the package accepts as peers; `make check-app` says the same of an image's Next. */
function versions({ versions }: App): Result[] {
  const { next = "", "@sentry/nextjs": sentry = "", "@culvert/nextjs": culvert } = versions;
  return [
    Number.parseInt(next.replace(/^\D+/, ""), 10) >= 15
      ? ok("next", next)
      : unknown("next", `${next}: tested are 15 and 16`, "update Next"),
    /^\D*(?:10\.(?:7[3-9]|[89]\d)|11)\b/.test(sentry)
      ? ok("sentry", sentry)
      : failed("sentry", sentry || "@sentry/nextjs is not installed", "install @sentry/nextjs 10.73 or later"),
    culvert ? ok("package", culvert) : failed("package", "@culvert/nextjs is not installed", "install @culvert/nextjs"),
  ];
}

function connected(name: string, steps: Step[], found: string): Result {
  const [step] = steps;
  if (!step) return ok(name, found);
  if (!isChange(step)) return failed(name, `${step.file}: ${step.problem}`, step.fix);
  return failed(
    name,
    `${step.file} ${step.before === undefined ? "does not exist" : "is not connected"}`,
    "npx @culvert/nextjs init",
  );
}

function basePath(app: App): Result {
  const built = basePathOf(app) ?? "";
  const set = settingIn(app, "BASE_PATH") ?? "";
  return built === set
    ? ok("base path", built || "none")
    : failed("base path", `next.config has '${built}', BASE_PATH is '${set}'`, `BASE_PATH=${built} in .env`);
}

function health(app: App): Result {
  const path = settingIn(app, "HEALTH_PATH") ?? "/healthz";
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
  return [unknown("server actions", "a key of each build: open pages cannot call those of the next release", fix)];
}

/** Behind middleware, Next cuts bodies off at 10 MB, silently. */
function bodies(app: App): Result[] {
  const [file] = ["proxy", "middleware"].flatMap((name) => findSource(app, app.sources, name) ?? []);
  const config = read(app, findSource(app, app.path, "next.config")) ?? "";
  if (!file || /(?:proxy|middleware)ClientMaxBodySize/.test(config)) return [];
  const name = file.includes("proxy.") ? "proxyClientMaxBodySize" : "middlewareClientMaxBodySize";
  return [
    unknown(
      "bodies",
      `Next cuts those above 10 MB silently behind ${file}`,
      `experimental: { ${name}: "100mb" } in next.config, or MAX_BODY_SIZE=10m`,
    ),
  ];
}

/** Whether a source file of the app matches. */
function someSource(app: App, pattern: RegExp, folder = app.path): boolean {
  return readdirSync(join(app.root, folder)).some((name) => {
    const file = join(folder, name);
    if (name === "node_modules" || name.startsWith(".")) return false;
    if (statSync(join(app.root, file)).isDirectory()) return someSource(app, pattern, file);
    return /\.[mc]?[jt]sx?$/.test(name) && pattern.test(read(app, file) ?? "");
  });
}

const symbols = { ok: "✓", failed: "✗", unknown: "?" } as const;

/** Returns a line for each result, or one JSON document, as `make check-app` prints them. */
export function format(results: Result[], json = false): string {
  if (json)
    return JSON.stringify(
      { failed: results.filter(({ state }) => state === "failed").length, checks: results },
      null,
      2,
    );
  return results
    .map(({ check, state, found, fix }) => `${symbols[state]} ${check.padEnd(17)} ${found}${fix ? `: ${fix}` : ""}`)
    .join("\n");
}
