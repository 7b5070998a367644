import { resolve } from "node:path";

/** The repository, the bench's folder in it, and where results and copies go; `npm run` starts in the bench's folder. */
export const bench = process.cwd();
export const root = resolve(bench, "../..");
export const output = resolve(root, ".culvert/bench");
