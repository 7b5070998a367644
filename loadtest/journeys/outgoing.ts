import { changedFields, parseBaggage } from "../lib/baggage.ts";
import type { Client } from "../lib/client.ts";
import { newContext, VENDOR } from "../lib/context.ts";
import { assertPage } from "../lib/responses.ts";
import { parseTrace, parseTraceParent } from "../lib/trace.ts";
import { callFailed, upstreamHeaders, upstreamText } from "../lib/upstream.ts";

/** Requests the page that calls an API, and reads from the page which headers that API received. */
export async function outgoing(client: Client): Promise<void> {
  const path = client.options.tracePage;
  const sent = newContext(client.options.dsn.publicKey, client.round % 2 === 0);
  const on = await client.request({ path, kind: "page", headers: sent.headers, traceId: sent.traceId });
  if (!assertPage(client, on, path)) return;

  const received = upstreamHeaders(on.body);
  if (Object.keys(received).length === 0 && callFailed(upstreamText(on.body))) return client.upstreamFailed(on);
  const continues = (trace?: { traceId: string; spanId: string; sampled?: boolean }) =>
    trace?.traceId === sent.traceId && trace.spanId !== sent.spanId && trace.sampled === sent.sampled;
  const example = `sent ${sent.headers["sentry-trace"]}, the page shows: ${upstreamText(on.body)}`;
  client.check("outgoing_trace", continues(parseTrace(received["sentry-trace"])), on, example);
  client.check("outgoing_traceparent", continues(parseTraceParent(received.traceparent)), on, example);
  const changed = changedFields(sent.sampling, received.baggage);
  client.check("outgoing_baggage", changed.length === 0, on, changed.join("; "));
  const vendor = parseBaggage(received.baggage)?.[VENDOR.key];
  const intact = vendor === undefined || vendor === VENDOR.value;
  const vendors = `sent "${sent.headers.baggage}", the API received "${received.baggage}"`;
  client.check("outgoing_vendor", intact, on, vendors);
}
