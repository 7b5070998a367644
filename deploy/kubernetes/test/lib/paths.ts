import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root = fileURLToPath(new URL("../../../..", import.meta.url)).replace(/\/$/, "");

/** The folder under test. */
export const kubernetes = `${root}/deploy/kubernetes`;

/** The names of the folders in base's sister folder `kind`. */
export const folders = (kind: "components" | "overlays"): string[] => readdirSync(`${kubernetes}/${kind}`).sort();
