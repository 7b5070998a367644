import { resolve } from "node:path";

/** The repository, the bench's folder, and the output folder; `npm run` starts in the bench's folder. */
export const bench = process.cwd();
export const root = resolve(bench, "../..");
export const output = resolve(root, ".culvert/bench");
