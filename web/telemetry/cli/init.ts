import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type App, inspect } from "./app.js";
import { type ByHand, type Change, isByHand, isChange } from "./change.js";
import { container } from "./edits/container.js";
import { nextConfig } from "./edits/next-config.js";
import { telemetry } from "./edits/telemetry.js";

/** What `init` would do in an app. */
export interface Plan {
  app: App;
  changes: Change[];
  byHand: ByHand[];
  /** What the user types afterwards. */
  commands: string[];
}

/** Takes the folder of a Next app and returns what is missing for it to run with Culvert. Throws a UsageError. */
export function plan(folder: string): Plan {
  const app = inspect(folder);
  const { steps, up } = container(app);
  const all = [...telemetry(app, "server"), ...telemetry(app, "browser"), ...nextConfig(app), ...steps];
  const packages = (["@sentry/nextjs", "@culvert/nextjs"] as const).filter((name) => !app.versions[name]);
  const install =
    packages.length > 0 ? [`${app.manager} ${app.manager === "npm" ? "install" : "add"} ${packages.join(" ")}`] : [];
  return {
    app,
    changes: all.filter(isChange),
    byHand: all.filter(isByHand),
    commands: [...install, up],
  };
}

/** Writes the changes of a plan. */
export function write({ app, changes }: Plan): void {
  for (const { file, after } of changes) {
    mkdirSync(dirname(join(app.root, file)), { recursive: true });
    writeFileSync(join(app.root, file), after);
  }
}

/** Returns the app in one line. */
export function describe({ manager, path, routers, typescript, versions }: App): string {
  const router = routers.map((name) => (name === "app" ? "App Router" : "Pages Router")).join(" and ");
  const sentry = versions["@sentry/nextjs"];
  return [
    `Next ${versions.next}`,
    router,
    typescript ? "TypeScript" : "JavaScript",
    `${manager}${path === "." ? "" : ` workspace, app in ${path}`}`,
    sentry ? `@sentry/nextjs ${sentry}` : "no @sentry/nextjs yet",
  ].join(", ");
}
