import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type Baggage, formatBaggage, parseBaggage } from "../lib/baggage.ts";
import { formatSentryTrace, formatTraceParent, parseTrace, type Trace } from "../lib/trace.ts";
import type { AppFault } from "./stub.ts";

const hex = (bytes: number) => randomBytes(bytes).toString("hex");

/** Renders a page that continues the request's trace, or starts one, and shows the headers that its API received. */
export function renderPage(
  headers: IncomingHttpHeaders,
  content: string,
  fault: AppFault | undefined,
  traceId = hex(16),
): string {
  const incoming =
    parseTrace(headers["sentry-trace"] as string | undefined) ??
    (fault === "continues malformed" ? firstIds(headers) : undefined);
  const { vendor, ...context } = parseBaggage(headers.baggage as string | undefined) ?? {};
  const continues = incoming !== undefined && context["sentry-trace_id"] === incoming.traceId;
  const id = incoming?.traceId ?? traceId;
  const sampled = (incoming?.sampled ?? true) !== Boolean(incoming && fault === "flips sampled");
  const own: Baggage = {
    "sentry-trace_id": id,
    "sentry-public_key": "culvert",
    "sentry-sampled": String(sampled),
  };
  const sampling = {
    ...(continues ? context : own),
    ...(fault === "changes baggage" ? { "sentry-sample_rate": "1" } : {}),
  };

  const spanId = () => (fault === "same span" && incoming ? incoming.spanId : hex(8));
  const trace = () => formatSentryTrace({ traceId: id, spanId: spanId(), sampled });
  const others: Baggage = vendor === undefined ? {} : { vendor: fault === "changes vendor" ? `${vendor}!` : vendor };
  const baggage = formatBaggage({ ...sampling, ...others });
  const upstream =
    fault === "upstream untraced"
      ? []
      : [
          ["sentry-trace", trace()],
          [
            "traceparent",
            formatTraceParent({
              traceId: fault === "other traceparent" ? hex(16) : id,
              spanId: spanId(),
              sampled,
            }),
          ],
          ["baggage", baggage],
        ];
  return `<!DOCTYPE html><html><head>
    <meta name="sentry-trace" content="${trace()}"/><meta name="baggage" content="${escapeHtml(baggage)}"/>
    <script src="/_next/static/chunks/app.js" async=""></script><link rel="stylesheet" href="/_next/static/chunks/app.css"/></head><body>${content}
    <h2>Outgoing</h2><dl>${upstream.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value ?? "")}</dd>`).join("")}</dl>
    ${fault === "echoes" ? escapeHtml(JSON.stringify(headers)) : ""}</body></html>`;
}

/** The first ids in the headers that look like a trace, whatever surrounds them. */
function firstIds(headers: IncomingHttpHeaders): Trace | undefined {
  const found = /([0-9a-f]{32})-([0-9a-f]{16})/.exec(`${headers["sentry-trace"]} ${headers.traceparent}`);
  return found ? { traceId: found[1] ?? "", spanId: found[2] ?? "" } : undefined;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
