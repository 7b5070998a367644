import type { CheckId } from "./checks.ts";

/** A failure of a check: the request, its trace, and what was expected and came. */
export interface Example {
  check: CheckId | "availability";
  at: string;
  traceId: string;
  text: string;
}
export interface Group {
  name: string;
  groups?: Group[];
}

const PREFIX = "failure ";
const MAX_LENGTH = 700;
/** k6 forbids `::` in the name of a group. */
const [SEPARATOR, SUBSTITUTE] = ["::", ":\u2060:"];

/** Encodes a virtual user's first failure of a check as the name of a k6 group, which is a tag of one sample. */
export function exampleName(user: number, { text, ...example }: Example): string {
  const short = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return PREFIX + JSON.stringify({ ...example, text: short, user }).replaceAll(SEPARATOR, SUBSTITUTE);
}

/** The failures of a check, of up to three virtual users. k6 puts those of `teardown` into a group of its own. */
export function examplesOf(check: Example["check"], { groups = [] }: Group): Example[] {
  return [...groups, ...groups.flatMap((group) => group.groups ?? [])]
    .filter(({ name }) => name.startsWith(PREFIX))
    .map(({ name }) => JSON.parse(name.slice(PREFIX.length).replaceAll(SUBSTITUTE, SEPARATOR)))
    .filter((one) => one.check === check)
    .sort((a, b) => a.user - b.user)
    .slice(0, 3);
}
