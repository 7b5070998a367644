import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type App, findSource, read } from "../app.js";
import type { Change } from "../change.js";
import { basePathOf } from "./next-config.js";

/** The folder in the app that has all of Culvert's files, so that none takes the place of a file of the team's. */
export const FOLDER = "culvert";

/** What `init` finds on this machine for the stack's settings. */
export interface Machine {
  /** Ports by setting. */
  ports: Record<"HTTPS_PORT" | "HTTP_PORT" | "INGEST_PORT", number>;
  /** The file with the CA for downloads; undefined if none is needed. */
  buildCa: string | undefined;
}

const template = (name: string) => readFileSync(new URL(`../templates/${name}`, import.meta.url), "utf8");

/** The image and the stack. A file that exists is the team's, with its changes. */
export function container(app: App, machine: Machine): Change[] {
  const files = {
    Dockerfile: template("Dockerfile").replace("id=culvert-app", `id=${projectOf(app)}`),
    "Dockerfile.dockerignore": template("Dockerfile.dockerignore"),
    "compose.yml": compose(app),
    "compose.override.yml": template("compose.override.yml"),
    "web.env": template("web.env"),
    "own-dsn.env": template("own-dsn.env"),
    ".gitignore": "# Settings of one machine\n.env\n",
    ".env": settings(app, machine),
  };
  return Object.entries(files)
    .map(([name, after]) => ({ file: join(app.path, FOLDER, name), after }))
    .filter(({ file }) => read(app, file) === undefined);
}

/** The address of the app in the stack, and that of the local ingest. */
export function addresses(app: App, { ports }: Machine): { app: string; ingest: string } {
  const isNew = read(app, join(app.path, FOLDER, ".env")) === undefined;
  const port = (name: keyof Machine["ports"]) => (isNew && !process.env[name] ? ports[name] : settingIn(app, name));
  return {
    app: `https://localhost:${port("HTTPS_PORT")}${settingIn(app, "BASE_PATH") ?? basePathOf(app) ?? ""}`,
    ingest: `http://localhost:${port("INGEST_PORT")}`,
  };
}

/** Returns a setting of the stack, from the shell, its .env or its compose file; undefined if it is not set. */
export function settingIn(app: App, name: string): string | undefined {
  const [env, defaults] = [".env", "compose.yml"].map((file) => read(app, join(app.path, FOLDER, file)) ?? "");
  return (
    process.env[name] ||
    new RegExp(`^${name}=(.+)$`, "m").exec(env ?? "")?.[1] ||
    new RegExp(`\\$\\{${name}:-((?!/dev/null)[^}]+)\\}`).exec(defaults ?? "")?.[1]
  );
}

/** A name for compose that is not the app's folder, after which the team's own project is named. */
function projectOf({ name }: App): string {
  const plain = name.replace(/^@[^/]*\//, "").replace(/[^a-z0-9_-]+/g, "-");
  return `${plain.replace(/^[^a-z0-9]+/, "") || "app"}-culvert`;
}

function compose(app: App): string {
  const basePath = basePathOf(app);
  const text = template("compose.yml")
    .replace("name: culvert-app\n", `name: ${projectOf(app)}\n`)
    .replace("context: ..\n", `context: ${relative(join(app.path, FOLDER), ".")}\n`)
    .replace("dockerfile: culvert/", `dockerfile: ${join(app.path, FOLDER)}/`)
    .replace("args: { APP: . }", `args: { APP: ${app.path} }`);
  return basePath ? text.replace(/^( +BASE_PATH:).*$/gm, `$1 \${BASE_PATH:-${basePath}}`) : text;
}

function settings(app: App, { ports, buildCa }: Machine): string {
  const lines = [
    "# Settings of this machine. docs/settings.md of Culvert has all.",
    "# For a project of Sentry, set its DSN and remove compose.override.yml, which has the local ingest.",
    `# SENTRY_DSN=${dsnOf(app) ?? "https://<key>@o<org>.ingest.sentry.io/<project>"}`,
    ...Object.entries(ports).map(([name, port]) => `${name}=${port}`),
    ...(buildCa ? ["# The CA for downloads in the build, as this machine's npm has it"] : []),
    ...(buildCa ? [`BUILD_CA_FILE=${buildCa}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** The DSN in the app's own Sentry.init or .env, if it has one. */
const dsnOf = (app: App) =>
  ["instrumentation-client", "sentry.client.config", "sentry.server.config", "instrumentation"]
    .flatMap((name) => [findSource(app, app.sources, name), findSource(app, app.path, name)])
    .concat(join(app.path, ".env"), join(app.path, ".env.local"))
    .map((file) => /\bhttps?:\/\/\w+@[\w.:-]+\/[\w/-]+/.exec(read(app, file) ?? "")?.[0])
    .find(Boolean);
