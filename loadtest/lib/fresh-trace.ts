import type { Client, Response } from "./client.ts";
import { type PageTrace, pageTrace } from "./page-trace.ts";
import { SENT_TRACE_PREFIX } from "./trace/context.ts";

/** Checks a page that was requested without any trace header: it must start a valid trace that no other client shares. */
export function assertFreshTrace(client: Client, response: Response, where: string): PageTrace {
  const page = pageTrace(response.body);
  const traceId = page.trace?.traceId;
  client.check("fresh_valid", page.problem === "", `${where}: ${page.problem}`, traceId);
  assertUniqueTrace(client, response, where);
  return page;
}

/**
 * Checks that the trace in a response, if there is one, belongs to this client alone. Applies to every response to a
 * request without trace headers, because a cached 404 page shares a trace just like a cached front page.
 */
export function assertUniqueTrace(client: Client, response: Response, where: string): void {
  const traceId = pageTrace(response.body).trace?.traceId;
  if (traceId === undefined) return;
  const problem = sharedWith(client, traceId);
  client.check("fresh_unique", problem === "", `${where}: the trace ${problem}`, traceId);
}

function sharedWith(client: Client, traceId: string): string {
  if (traceId.startsWith(SENT_TRACE_PREFIX)) return "was sent by another client";
  if (client.probedTraceIds.has(traceId)) return "existed before the run: this page is cached";
  return client.recordTraceId(traceId) ? "" : "was given to another client before";
}
