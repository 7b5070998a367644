import type { Resource } from "../lib/objects.ts";

/** Takes all rendered objects of one folder; returns a line for each violation. */
export type Rule = (objects: Resource[]) => string[];
