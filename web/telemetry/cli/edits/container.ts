import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type App, findSource, read } from "../app.js";
import type { Change, Step } from "../change.js";
import { basePathOf } from "./next-config.js";

/** The names under which `docker compose` looks for a file by itself. */
const COMPOSE_FILES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];

const template = (name: string) => readFileSync(new URL(`../templates/${name}`, import.meta.url), "utf8");

/** The image and the stack: files at the repository's root, under names of their own if the app has such files already. */
export function container(app: App): { steps: Step[]; up: string } {
  const banner = (name: string) => template(name).split("\n", 1)[0] ?? "";
  const isFree = (file: string, name: string) => read(app, file)?.startsWith(banner(name)) ?? true;
  const dockerfile = isFree("Dockerfile", "Dockerfile") ? "Dockerfile" : "culvert.Dockerfile";
  const others = COMPOSE_FILES.filter((file) => existsSync(join(app.root, file)) && !isFree(file, "compose.yml"));
  const compose = others.length === 0 ? "compose.yml" : "culvert.compose.yml";
  const stack = template("compose.yml")
    .replace("args: { APP: . }", `args: { APP: ${app.path} }`)
    .replace("      context: .\n", dockerfile === "Dockerfile" ? "$&" : `$&      dockerfile: ${dockerfile}\n`);
  const steps = [
    ...create(app, dockerfile, template("Dockerfile")),
    ...create(app, `${dockerfile}.dockerignore`, template("Dockerfile.dockerignore")),
    ...create(app, compose, stack),
    ...settings(app),
  ];
  return { steps, up: `docker compose ${compose === "compose.yml" ? "" : `-f ${compose} `}up --build --wait` };
}

/** A file that exists is the team's, with its changes. */
const create = (app: App, file: string, after: string): Change[] =>
  read(app, file) === undefined ? [{ file, after }] : [];

/** Returns a setting of the stack, from the shell or .env; undefined if it is not set. */
export const settingIn = (app: App, name: string): string | undefined =>
  process.env[name] || new RegExp(`^${name}=(.+)$`, "m").exec(read(app, ".env") ?? "")?.[1];

/** The settings that the app needs from the start; those that .env names already stay. */
function settings(app: App): Change[] {
  const before = read(app, ".env");
  const basePath = basePathOf(app);
  const lines = /^(?:# )?SENTRY_DSN=/m.test(before ?? "")
    ? []
    : [
        "# A local ingest: http://localhost:8969. With a project of Sentry, remove COMPOSE_PROFILES and set SENTRY_DSN.",
        "COMPOSE_PROFILES=local",
        `# SENTRY_DSN=${dsnOf(app) ?? "https://<key>@o<org>.ingest.sentry.io/<project>"}`,
      ];
  if (basePath && !settingIn(app, "BASE_PATH")) lines.push(`BASE_PATH=${basePath}`);
  if (lines.length === 0) return [];
  return [{ file: ".env", before, after: `${before ? `${before.trimEnd()}\n\n` : ""}${lines.join("\n")}\n` }];
}

/** The DSN in the app's own Sentry.init, if it has one. */
const dsnOf = (app: App) =>
  ["instrumentation-client", "sentry.client.config", "sentry.server.config", "instrumentation"]
    .flatMap((name) => [findSource(app, app.sources, name), findSource(app, app.path, name)])
    .map((file) => /["'`](https?:\/\/\w+@[\w.:-]+\/[\w/-]+)["'`]/.exec(read(app, file) ?? "")?.[1])
    .find(Boolean);
