import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import type { RunData } from "./summary.ts";

export interface Example {
  check: CheckId;
  text: string;
  traceId: string;
}

// Passes a failure example from a virtual user to the end-of-test summary, which receives no text but the names of groups. Those
// are tags too and must not contain ids, so the trace id is passed as numbers: the values of gauges.

const MAX_LENGTH = 400;
const PARTS = [0, 1, 2, 3];
const PART = 2 ** 32;

/** The gauges that hold the trace id of a check's example. */
export const traceMetrics = (check: CheckId): string[] => PARTS.map((part) => `${check}_trace_${part}`);

/** Encodes a user's first failure example as the name of a k6 group, which may not contain `::`; shortens ids. */
export function exampleName(check: CheckId, user: number, text: string): string {
  const idless = text.replace(/([0-9a-f]{6})[0-9a-f]{2,}/gi, "$1…");
  const short = idless.length > MAX_LENGTH ? `${idless.slice(0, MAX_LENGTH)}…` : idless;
  return `first failure|${check}|${user}|${short.replaceAll("::", ": :").replace(/\s+/g, " ")}`;
}

/**
 * A trace id as one number per gauge; empty if it is not a trace id. Each number starts with the user's number, so that the minima
 * of several users' values all belong to one user.
 */
export function traceNumbers(user: number, traceId: string): number[] {
  if (!/^[0-9a-f]{32}$/.test(traceId)) return [];
  return PARTS.map((part) => user * PART + Number.parseInt(traceId.slice(part * 8, part * 8 + 8), 16));
}

/** The failure example of the first user that has one for this check. */
export function exampleOf(check: CheckId, { metrics, root_group }: Pick<RunData, "metrics" | "root_group">) {
  const [first] = root_group.groups
    .flatMap(({ name }) => readName(name) ?? [])
    .filter((one) => one.check === check)
    .sort((a, b) => a.user - b.user);
  if (!first) return undefined;
  const parts = traceMetrics(check).map((name) => (metrics[name]?.values.min ?? -1) - first.user * PART);
  const known = parts.every((part) => part >= 0 && part < PART);
  const traceId = known ? parts.map((part) => part.toString(16).padStart(8, "0")).join("") : "";
  return { check, text: first.text, traceId };
}

/** Decodes a group's name; undefined for any other group. */
function readName(name: string): { check: CheckId; user: number; text: string } | undefined {
  const [, check, user, text = ""] = /^first failure\|(\w+)\|(\d+)\|(.*)$/.exec(name) ?? [];
  const id = CHECK_IDS.find((known) => known === check);
  return id && { check: id, user: Number(user), text };
}
