import type { CheckId } from "./checks.ts";
import { ask } from "./delivery.ts";

/** What failed: the request, its trace, what was expected and what came. A warning changes no result. */
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
 * Says a failure in k6's log, and to the reader. `handleSummary` gets numbers and names only, and each name is a label of every output.
 */
export async function sayFailure(reader: string, run: string, failure: Failure): Promise<void> {
  const text = failure.text.replace(/\s+/g, " ");
  const short = { ...failure, text: text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text };
  const log = failure.check === "warning" ? console.warn : console.error;
  log(`${failure.check}: ${failureText(short)}`);
  if (reader) await ask(reader, "/failure", 10, { ...short, run }).catch(() => "");
}

/** What the reader was told during a run; nothing if it does not answer. */
export const readFailures = async (reader: string, run: string): Promise<Failure[]> =>
  JSON.parse((reader && (await ask(reader, `/failures?run=${run}`, 10).catch(() => ""))) || "[]");
