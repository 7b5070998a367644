import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { UsageError } from "./change.js";
import { peers } from "./own.js";

/** What is known about a Next app from its files. Paths of files are relative to `root`. */
export type App = ReturnType<typeof inspect>;

const lockfiles = {
  "package-lock.json": "npm",
  "npm-shrinkwrap.json": "npm",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
} as const;

export interface Manifest {
  name?: string;
  version?: string;
  type?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** Takes the folder of a Next app and returns what its files say. Throws a UsageError if it is no folder of a Next app. */
export function inspect(folder: string) {
  const manifest = readManifest(join(folder, "package.json"));
  if (!manifest) throw new UsageError(`${folder} has no package.json: run this in the folder of your Next app`);
  const inFolder = "run this in the folder of your Next app (in a monorepo: apps/<name>)";
  if (!rangeOf(manifest, "next")) throw new UsageError(`package.json does not depend on next: ${inFolder}`);
  const { root, manager } = findLock(folder);
  const path = relative(root, folder) || ".";
  const parent = ["app", "pages"].some((name) => existsSync(join(folder, name))) ? "" : "src";
  const routers = (["app", "pages"] as const).filter((name) => existsSync(join(folder, parent, name)));
  if (routers.length === 0) throw new UsageError("there is no folder app or pages, nor src/app or src/pages");
  const versions = [...peers, "@culvert/nextjs"].map((name) => [name, version(folder, manifest, name)] as const);
  return {
    /** The repository's root: the folder with the lockfile. The image is built from it. */
    root,
    /** The app's folder below it, "." if the app is the repository. */
    path,
    name: typeof manifest.name === "string" ? manifest.name : basename(folder),
    manager,
    /** The installed version, else the range in package.json; undefined if the app does not depend on the package. */
    versions: Object.fromEntries(versions) as Partial<Record<string, string>>,
    /** What package.json says of this package: a range, or "file:" and a path; undefined if it is no dependency. */
    culvert: rangeOf(manifest, "@culvert/nextjs"),
    routers,
    typescript: existsSync(join(folder, "tsconfig.json")),
    /** Whether .js files are ES modules. */
    esm: manifest.type === "module",
    /** Where Next looks for instrumentation files: beside the folder `app` or `pages`. */
    sources: join(path, parent),
  };
}

/** Returns the app's first file of these names with an extension of JavaScript or TypeScript, relative to the root; undefined if there is none. */
export function findSource({ root }: App, folder: string, name: string): string | undefined {
  return ["ts", "tsx", "mts", "js", "jsx", "mjs", "cjs"]
    .map((extension) => join(folder, `${name}.${extension}`))
    .find((file) => isFile(join(root, file)));
}

/** Returns the content of a file with LF as line ending, undefined if there is none. A clone on Windows has CRLF; `write` keeps them. */
export const read = ({ root }: App, file: string | undefined): string | undefined =>
  file !== undefined && isFile(join(root, file))
    ? readFileSync(join(root, file), "utf8").replaceAll("\r\n", "\n")
    : undefined;

/** Not a pipe, whose reader waits, nor a link that leads nowhere. */
const isFile = (path: string): boolean => existsSync(path) && statSync(path).isFile();

function findLock(folder: string) {
  for (let root = folder; ; root = dirname(root)) {
    const file = readdirSync(root).find((name): name is keyof typeof lockfiles => name in lockfiles);
    if (file) return { root, manager: lockfiles[file] };
    if (existsSync(join(root, ".git")) || dirname(root) === root) break;
  }
  const bun = readdirSync(folder).find((name) => /^bun\.lockb?$/.test(name));
  const found = bun ? `${bun} is not supported, and there is no other` : "there is no";
  throw new UsageError(`${found} lockfile of npm, pnpm or yarn: make one, for example with npm install`);
}

/** Throws a UsageError if npm would reject the text. */
export function parseManifest(text: string, file = "package.json"): Manifest {
  try {
    // npm accepts a byte order mark.
    return { ...JSON.parse(text.replace(/^\uFEFF/, "")) };
  } catch (error) {
    throw new UsageError(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}

const readManifest = (file: string): Manifest | undefined =>
  isFile(file) ? parseManifest(readFileSync(file, "utf8"), file) : undefined;

function rangeOf({ dependencies, devDependencies }: Manifest, name: string): string | undefined {
  const range = dependencies?.[name] ?? devDependencies?.[name];
  return range === undefined ? undefined : String(range);
}

function version(folder: string, manifest: Manifest, name: string): string | undefined {
  const range = rangeOf(manifest, name);
  for (let from = folder; range; from = dirname(from)) {
    const installed = readManifest(join(from, "node_modules", name, "package.json"));
    if (installed?.version || dirname(from) === from) return installed?.version ?? range;
  }
  return range;
}
