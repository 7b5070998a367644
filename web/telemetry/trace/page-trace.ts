import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { getActiveSpan, getTraceData } from "#sdk";
import type { Metrics } from "../serve/server-timing.js";

/**
 * Takes a request, its response and the status, while the response's headers are written, in the request's context. Returns the metrics of Server-Timing
 * from which the browser's SDK continues the trace of the request, if the page has no `meta` tags. None for what is no page, for a page that another
 * visitor could get, and if the server never sends such a trace: the browser would not, either.
 */
export const traceMetrics: Metrics = ({ headers }, response, status) => {
  // A prefetched page may be shown much later, or never.
  const isNavigation = headers.accept?.includes("text/html") && !headers["sec-purpose"] && !headers.purpose;
  const type = response.getHeader("content-type");
  const isPage = type === undefined ? status === 304 : String(type).startsWith("text/html");
  // Of a missing page, the server's part is not sent (filter/event-filters.ts).
  if (status === 404 && process.env.CULVERT_EVENT_FILTERS !== "off") return [];
  if (!isNavigation || !isPage || isForOthers(headers, response) || !getActiveSpan()) return [];
  // Without an argument: asked for a span, version 10 of the SDK invents an id.
  const { "sentry-trace": trace, baggage = "" } = getTraceData();
  const members = baggage.split(",").filter((member) => member.startsWith("sentry-"));
  if (!trace || members.includes("sentry-sample_rate=0")) return [];
  return Object.entries({ "sentry-trace": trace, baggage: members.join() }).map(
    ([name, text]) => `${name};desc="${text}"`,
  );
};

/** Headers by which an app tells CDNs something else than browsers: https://www.rfc-editor.org/rfc/rfc9213 */
const FOR_CDNS = /-cache-control$|^(?:edge|surrogate)-control$/;

/** Whether a cache in front may give the page to other visitors: https://www.rfc-editor.org/rfc/rfc9111#section-3 */
function isForOthers(headers: IncomingHttpHeaders, response: ServerResponse): boolean {
  // The proxy says so: no cache is in front.
  if (headers["x-shared-cache"] === "0") return false;
  if (response.getHeaderNames().some((name) => FOR_CDNS.test(name))) return true;
  return !/(?:^|[, ])(?:private|no-store) *(?:,|$)/i.test(String(response.getHeader("cache-control")));
}
