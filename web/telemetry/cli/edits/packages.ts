import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type App, type Manifest, read } from "../app.js";
import type { Change } from "../change.js";
import { UsageError } from "../usage-error.js";
import { FOLDER } from "./container.js";

const NAME = "@culvert/nextjs";
/** For an app without an SDK: the line that the kit is tested with, which installs without an override. */
const SENTRY = "^10.78.0";
/** A dependency of @sentry/nextjs 11.1 to 11.8, in the newest version that npm has of that line. */
const CLOUDFLARE = ["@sentry/cloudflare", "11.0.0"] as const;
const NEEDS_CLOUDFLARE = /^(?:\^11\.[0-8]|~?11\.[1-8])\./;

/** This package's own folder: the one that has its package.json. */
function ownFolder(from = dirname(fileURLToPath(import.meta.url))): string {
  return existsSync(join(from, "package.json")) ? from : ownFolder(dirname(from));
}

/** The name of the packed file. It has a hash of the content, because a lockfile rejects other content under the same name. */
function tarballName(): string {
  const folder = ownFolder();
  const hash = createHash("sha256");
  const files = [
    "package.json",
    ...readdirSync(join(folder, "dist"), { recursive: true }).map((name) => `dist/${name}`),
  ];
  for (const file of files.sort())
    if (statSync(join(folder, file)).isFile()) hash.update(file).update(readFileSync(join(folder, file)));
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `culvert-nextjs-${version}-${hash.digest("hex").slice(0, 8)}.tgz`;
}

/** Whether a dependency is a file or folder outside of the repository, which no build of an image can read. */
export const isOutside = ({ root, path, culvert }: App): boolean =>
  /^(?:file|link):/.test(culvert ?? "") &&
  relative(root, join(root, path, (culvert ?? "").replace(/^\w+:/, ""))).startsWith("..");

/**
 * What package.json lacks. This package is not on npm, so the app gets it as a file of its own, at `tarball`, unless it has it from a registry.
 * If this command runs from the app's own packages, that file is there already.
 */
export function packages(app: App): { steps: Change[]; tarball: string | undefined } {
  const isInstalled = !relative(app.root, ownFolder()).startsWith("..");
  const isVendored = app.culvert?.startsWith(`file:${FOLDER}/`) ?? false;
  const vendors = !app.culvert || isOutside(app) || (isVendored && !isInstalled);
  const tarball = vendors ? `${FOLDER}/${tarballName()}` : undefined;
  const own = join(app.path, "package.json");
  const edits: [file: string, edit: (manifest: Manifest) => void][] = [];
  if (tarball) edits.push([own, (manifest) => depend(manifest, NAME, `file:${tarball}`)]);
  if (!app.versions["@sentry/nextjs"]) edits.push([own, (manifest) => depend(manifest, "@sentry/nextjs", SENTRY)]);
  const overrides = NEEDS_CLOUDFLARE.test(app.versions["@sentry/nextjs"] ?? "");
  if (overrides && app.manager !== "pnpm")
    edits.push(["package.json", (manifest) => override(manifest, app.manager === "npm" ? "overrides" : "resolutions")]);
  const steps = [...new Set(edits.map(([file]) => file))].flatMap((file) =>
    editManifest(app, file, (manifest) => {
      for (const [of, edit] of edits) if (of === file) edit(manifest);
    }),
  );
  return {
    steps: [...steps, ...(overrides && app.manager === "pnpm" ? overrideInWorkspace(app) : [])],
    tarball: tarball && app.culvert !== `file:${tarball}` ? join(app.path, tarball) : undefined,
  };
}

/** Packs this package into the app, in place of an earlier version. Throws a UsageError without npm. */
export function vendor({ root }: App, tarball: string): void {
  const folder = dirname(join(root, tarball));
  const packed = mkdtempSync(join(tmpdir(), "culvert-pack-"));
  try {
    execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed, ownFolder()]);
  } catch (error) {
    throw new UsageError(`npm pack failed, which copies @culvert/nextjs into the app: ${(error as Error).message}`);
  }
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) if (/^culvert-nextjs-.*\.tgz$/.test(file)) rmSync(join(folder, file));
  copyFileSync(join(packed, readdirSync(packed)[0] ?? ""), join(root, tarball));
  rmSync(packed, { recursive: true });
}

function depend(manifest: Manifest, name: string, spec: string): void {
  if (manifest.devDependencies?.[name]) manifest.devDependencies[name] = spec;
  // npm, pnpm and yarn write them in this order, too.
  else
    manifest.dependencies = Object.fromEntries(
      Object.entries({ ...manifest.dependencies, [name]: spec }).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
}

function override(manifest: Manifest, field: "overrides" | "resolutions"): void {
  const [name, version] = CLOUDFLARE;
  manifest[field] = { [name]: version, ...manifest[field] };
}

function overrideInWorkspace(app: App): Change[] {
  const file = "pnpm-workspace.yaml";
  const before = read(app, file);
  const [name, version] = CLOUDFLARE;
  if (before?.includes(name)) return [];
  const line = `  "${name}": ${version}\n`;
  const after = /^overrides:[ \t]*\n/m.test(before ?? "")
    ? before?.replace(/^overrides:[ \t]*\n/m, `$&${line}`)
    : `${before ? `${before.trimEnd()}\n\n` : ""}overrides:\n${line}`;
  return [{ file, before, after: after ?? "" }];
}

function editManifest(app: App, file: string, edit: (manifest: Manifest) => void): Change[] {
  const before = read(app, file) ?? "{}\n";
  const manifest = JSON.parse(before);
  edit(manifest);
  if (JSON.stringify(manifest) === JSON.stringify(JSON.parse(before))) return [];
  return [{ file, before, after: `${JSON.stringify(manifest, null, /^[ \t]+/m.exec(before)?.[0] ?? 2)}\n` }];
}
