import { CHECK_IDS, type CheckId } from "./checks.ts";

export interface Example {
  check: CheckId;
  text: string;
  traceId: string;
}

const LONGEST = 400;

/** Packs a first failing example into the name of a k6 group, which may not contain `::`. */
export function exampleName(check: CheckId, text: string, traceId: string): string {
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return `first failure|${check}|${traceId}|${short.replaceAll("::", ": :").replace(/\s+/g, " ")}`;
}

/** Unpacks it; undefined for a group that is something else. */
export function readExample(name: string): Example | undefined {
  const [, check, traceId = "", text = ""] = /^first failure\|(\w+)\|(\w*)\|(.*)$/.exec(name) ?? [];
  const id = CHECK_IDS.find((known) => known === check);
  return id && { check: id, text, traceId };
}
