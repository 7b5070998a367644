import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type App, inspect } from "./app.js";
import { isByHand, isChange, UsageError } from "./change.js";
import { addresses, container, FOLDER, type Machine } from "./edits/container.js";
import { nextConfig } from "./edits/next-config.js";
import { ownDockerfiles } from "./edits/own-dockerfile.js";
import { packages, vendor } from "./edits/packages.js";
import { telemetry } from "./edits/telemetry.js";
import { needed } from "./own.js";

/** What `init` would do in an app. */
export type Plan = ReturnType<typeof plan>;

/** Takes the folder of a Next app and what is known of this machine; returns what is missing for it to run with Culvert. Throws a UsageError. */
export function plan(folder: string, machine: Machine) {
  const app = inspect(folder);
  refuseUnsupported(app);
  const { steps, tarball } = packages(app);
  const code = [...telemetry(app, "server"), ...telemetry(app, "browser"), ...nextConfig(app)];
  const all = [...code, ...steps, ...container(app, machine), ...ownDockerfiles(app)];
  const byHand = all.filter(isByHand);
  return {
    app,
    changes: all.filter(isChange),
    byHand,
    /** The file into which this package is packed, if the app has no package that a build of its image can read. */
    tarball,
    /** What the user types afterwards. */
    commands: [
      ...(steps.length > 0 ? [`${app.manager} install`] : []),
      // Whether what was left to the user is done.
      ...(byHand.length > 0 ? ["npx @culvert/nextjs check"] : []),
      `docker compose --project-directory ${FOLDER} up --build --wait`,
    ],
    /** Where the app and its local ingest answer then. */
    addresses: addresses(app, machine),
  };
}

/** Throws a UsageError for a version that npm or pnpm would reject after everything was written. */
function refuseUnsupported({ versions }: App): void {
  const wrong = Object.entries(versions).flatMap(([name, version]) => {
    const need = version && needed(name, version);
    return need ? [`${need} instead of ${version}`] : [];
  });
  if (wrong.length > 0) throw new UsageError(`@culvert/nextjs needs ${wrong.join(", ")}: update and install first`);
}

/** Writes what a plan has. */
export function write({ app, changes, tarball }: Plan): void {
  if (tarball) vendor(app, tarball);
  for (const { file, before, after } of changes) {
    const path = join(app.root, file);
    mkdirSync(dirname(path), { recursive: true });
    const hasCrlf = before !== undefined && /^.*\r\n/.test(readFileSync(path, "utf8"));
    writeFileSync(path, hasCrlf ? after.replaceAll("\n", "\r\n") : after);
  }
}

/** Returns the app in one line. */
export function describe({ manager, path, routers, typescript, versions }: App): string {
  const router = routers.map((name) => (name === "app" ? "App Router" : "Pages Router")).join(" and ");
  const found = versions["@sentry/nextjs"];
  const sentry = found ? `@sentry/nextjs ${found}` : "no @sentry/nextjs yet";
  const workspace = path === "." ? "" : ` workspace, app in ${path}`;
  return `Next ${versions.next}, ${router}, ${typescript ? "TypeScript" : "JavaScript"}, ${manager}${workspace}, ${sentry}`;
}
