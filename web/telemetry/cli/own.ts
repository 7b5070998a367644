import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** This package's own folder: the one that has its package.json. */
export function ownFolder(from = dirname(fileURLToPath(import.meta.url))): string {
  return existsSync(join(from, "package.json")) ? from : ownFolder(dirname(from));
}

/** This package's own package.json. */
export const ownManifest: { version: string; peerDependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ownFolder(), "package.json"), "utf8"),
);

/** What else the package works with; npm reads the same ranges, each of the form ^1.2.3. */
export const peers = Object.keys(ownManifest.peerDependencies);

/**
 * Takes a version of a peer, or a range of versions, which counts as its lowest. Returns what is needed instead; undefined if it is supported or
 * names no version, such as "latest".
 */
export function needed(name: string, version: string): string | undefined {
  const ranges = ownManifest.peerDependencies[name]?.split(" || ") ?? [];
  const [, major, minor = Infinity, before] = /^\D*(\d+)(?:\.(\d+)(?:\.\d+(-)?)?)?/.exec(version) ?? [];
  const isIn = (range: string) => {
    const [wanted, least] = range.replace("^", "").split(".").map(Number) as [number, number];
    return Number(major) === wanted && Number(minor) >= least && !before;
  };
  if (!major || ranges.length === 0 || ranges.some(isIn)) return undefined;
  return `${name} ${ranges.map((range) => range.replace(/^\^|(?:\.0)+$/g, "")).join(" or ")}`;
}
