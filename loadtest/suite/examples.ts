import { CHECK_IDS, type CheckId } from "../lib/checks.ts";
import type { Group, RunData } from "./summary.ts";

/** The first failure of a check: the request, its trace, and what was expected and came. */
export interface Example {
  check: CheckId | "availability";
  at: string;
  traceId: string;
  text: string;
}

// Passes a failure from a virtual user to the end-of-test summary, which receives no text but the names of groups. A group is a tag of one
// sample, so each virtual user passes its first failure of a check only.

const MAX_LENGTH = 700;
/** k6 forbids `::` in the name of a group. */
const [SEPARATOR, SUBSTITUTE] = ["::", ":\u2060:"];

/** Encodes a virtual user's first failure as the name of a k6 group. */
export function exampleName(user: number, { check, at, traceId, text }: Example): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return `failure ${JSON.stringify([check, user, at, traceId, short])}`.replaceAll(SEPARATOR, SUBSTITUTE);
}

/** The failures of a check, of up to three virtual users. */
export function examplesOf(check: Example["check"], { root_group }: Pick<RunData, "root_group">): Example[] {
  return namesOf(root_group)
    .flatMap((name) => readName(name) ?? [])
    .filter((one) => one.check === check)
    .sort((a, b) => a.user - b.user)
    .slice(0, 3)
    .map(({ user: _, ...example }) => example);
}

/** The names of all groups; k6 puts those of `teardown` into a group of its own. */
function namesOf({ groups = [] }: Group): string[] {
  return groups.flatMap((group) => [group.name, ...namesOf(group)]);
}

/** Decodes a group's name; undefined for any other group. */
function readName(name: string): (Example & { user: number }) | undefined {
  if (!name.startsWith("failure [")) return undefined;
  const [check, user, at, traceId, text] = JSON.parse(name.slice("failure ".length).replaceAll(SUBSTITUTE, SEPARATOR));
  return check === "availability" || CHECK_IDS.includes(check) ? { check, user, at, traceId, text } : undefined;
}
