import type { Client, Response } from "./client.ts";

/** Trace headers that belong in requests only; SDKs return a trace to the client in the page's markup or `Server-Timing`. */
const REQUEST_ONLY = ["sentry-trace", "baggage", "traceparent", "tracestate"];

/** Checks that apply to every response: no trace header, and `noindex` on a 404 only. */
export function assertResponse(client: Client, response: Response, where: string): void {
  if (response.status === 0) return;
  const leaked = REQUEST_ONLY.filter((name) => response.headers[name] !== undefined);
  client.check("no_trace_headers", leaked.length === 0, `${where}: the response contains ${leaked.join(", ")}`);

  const robots = response.headers["x-robots-tag"] ?? "";
  const noindex = /\bnoindex\b/.test(robots);
  if (response.status === 404) client.check("not_found_noindex", noindex, `${where}: X-Robots-Tag is "${robots}"`);
  else client.check("indexable", !noindex, `${where}: ${response.status} with X-Robots-Tag "${robots}"`);
}

/** Records `page_ok`; returns whether the response is an HTML page. */
export function assertPage(client: Client, response: Response, where: string, traceId?: string): boolean {
  assertResponse(client, response, where);
  const ok = response.status === 200 && /^text\/html/.test(response.headers["content-type"] ?? "");
  client.check("page_ok", ok, `${where}: ${describeResponse(response)}`, traceId);
  return ok;
}

/** Describes a response in a few words for a failure example. */
export function describeResponse(response: Response): string {
  if (response.status === 0) return `no response (${response.error})`;
  return `${response.status} ${response.headers["content-type"] ?? "without a content type"}`;
}
