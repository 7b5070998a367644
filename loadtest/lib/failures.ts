import http from "k6/http";
import type { CheckId } from "./checks.ts";

/** A failure of a check: the request, its trace, and what was expected and came. A warning changes no result. */
export interface Failure {
  check: CheckId | "availability" | "warning";
  at: string;
  traceId: string;
  text: string;
}

const MAX_LENGTH = 700;

export const failureText = ({ at, text, traceId }: Failure): string =>
  `${at && `${at}: `}${text}${traceId && ` [trace ${traceId}]`}`;

/**
 * Says a failure in k6's log, and to the reader beside k6. `handleSummary` gets numbers, the names of groups and checks, and nothing else
 * of an iteration. A name is a tag, though, and so a label of each output. The reader has no part in the result: it may fail.
 */
export async function sayFailure(reader: string, run: string, user: number, failure: Failure): Promise<void> {
  const plain = failure.text.replace(/\s+/g, " ");
  const one = { ...failure, text: plain.length > MAX_LENGTH ? `${plain.slice(0, MAX_LENGTH)}…` : plain };
  const log = failure.check === "warning" ? console.warn : console.error;
  log(`${failure.check}: ${failureText(one)}`);
  if (reader) await http.asyncRequest("POST", `${reader}/failure`, JSON.stringify({ ...one, run, user }), params());
}

/** What the reader was told during a run; nothing if it does not answer. */
export async function readFailures(reader: string, run: string): Promise<Failure[]> {
  if (!reader) return [];
  const on = await http.asyncRequest("GET", `${reader}/failures?run=${run}`, null, params());
  return on.status === 200 ? JSON.parse(`${on.body}`) : [];
}

const params = () => ({ tags: { name: "reader", kind: "reader" }, timeout: "10s" });
