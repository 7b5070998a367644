import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { type App, type Manifest, parseManifest, read } from "../app.js";
import { type Change, UsageError } from "../change.js";
import { ownFolder, ownManifest } from "../own.js";
import { FOLDER } from "./container.js";

const NAME = "@culvert/nextjs";
/** For an app without an SDK: the line that the kit is tested with, which installs without an override. */
const SENTRY = "^10.78.0";

/** The name of the packed file. It has a hash of the content, because a lockfile rejects other content under the same name. */
function tarballName(): string {
  const folder = ownFolder();
  const hash = createHash("sha256");
  const built = readdirSync(join(folder, "dist"), { recursive: true }).map((name) => `dist/${name}`);
  for (const file of ["package.json", ...built].sort())
    if (statSync(join(folder, file)).isFile()) hash.update(file).update(readFileSync(join(folder, file)));
  return `culvert-nextjs-${ownManifest.version}-${hash.digest("hex").slice(0, 8)}.tgz`;
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
  const file = join(app.path, "package.json");
  const before = read(app, file) ?? "";
  const manifest = parseManifest(before);
  if (tarball) depend(manifest, NAME, `file:${tarball}`);
  if (!app.versions["@sentry/nextjs"]) depend(manifest, "@sentry/nextjs", SENTRY);
  const isSame = JSON.stringify(manifest) === JSON.stringify(parseManifest(before));
  const after = `${JSON.stringify(manifest, null, /^[ \t]+/m.exec(before)?.[0] ?? 2)}\n`;
  return {
    steps: isSame ? [] : [{ file, before, after }],
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
