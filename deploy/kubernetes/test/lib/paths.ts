import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");

/** The chart's folder. */
export const chart = `${root}/deploy/kubernetes`;
