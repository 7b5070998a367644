import type { Resource } from "../lib/objects.ts";

/** Takes everything that one folder renders; returns a line for each thing that breaks the rule. */
export type Rule = (objects: Resource[]) => string[];
