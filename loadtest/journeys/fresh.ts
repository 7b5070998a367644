import { type PageTrace, pageTrace } from "../lib/page-trace.ts";
import { SENT_MARK } from "../lib/trace/context.ts";
import type { Answer, Visitor } from "../lib/visitor.ts";

/** Judges a page that was asked for without any trace header. */
export function judgeFresh(visitor: Visitor, answer: Answer, where: string): PageTrace {
  const page = pageTrace(answer.body);
  const traceId = page.trace?.traceId;
  visitor.check("fresh_valid", page.problem === "", `${where}: ${page.problem}`, traceId);
  judgeUnique(visitor, answer, where);
  return page;
}

/**
 * Judges whether the trace that an answer hands out, if it does, is this visitor's alone. Meant for every answer to a
 * request without trace headers: a cached 404 page shares a trace as well as a cached front page.
 */
export function judgeUnique(visitor: Visitor, answer: Answer, where: string): void {
  const traceId = pageTrace(answer.body).trace?.traceId;
  if (traceId === undefined) return;
  const owner = earlierOwner(visitor, traceId);
  visitor.check("fresh_unique", owner === "", `${where}: the trace ${owner}`, traceId);
}

function earlierOwner(visitor: Visitor, traceId: string): string {
  if (traceId.startsWith(SENT_MARK)) return "is one that another visitor sent";
  if (visitor.known.has(traceId)) return "was there before the run began: this page is cached";
  return visitor.meet(traceId) ? "" : "was given to an earlier visitor";
}
