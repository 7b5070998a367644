import { changedFields } from "../lib/baggage.ts";
import type { CheckId } from "../lib/checks.ts";
import type { Client } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { answers } from "../lib/request.ts";
import { assertFreshTrace, assertPage } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

const CONCURRENT = 10;

/** Sends a trace, as an instrumented caller does, and checks that the page continues it. */
export const continued = (client: Client): Promise<void> => sendTraces(client, 1);

/** Sends ten traces at once, then ten requests without one. If the server mixes them up, a page is in another's trace. */
export async function concurrent(client: Client): Promise<void> {
  await sendTraces(client, CONCURRENT);
  const request = { path: client.page(), kind: "page", untimed: true } as const;
  for (const on of await answers(Array.from({ length: CONCURRENT }, () => client.request(request))))
    if (on && assertPage(client, on, request.path)) assertFreshTrace(client, on, request.path);
}

async function sendTraces(client: Client, count: number): Promise<void> {
  const path = client.page();
  const { publicKey } = client.options.dsn;
  const sent = Array.from({ length: count }, (_, at) => newContext(publicKey, (client.round + at) % 2 === 0));
  const how = { path, kind: "page", untimed: count > 1 } as const;
  const pages = sent.map(({ headers, traceId }) => client.request({ ...how, headers, traceId }));
  for (const [at, on] of (await answers(pages)).entries()) {
    const { traceId, spanId, sampled, sampling } = sent[at] as (typeof sent)[number];
    if (!on || !assertPage(client, on, path)) continue;
    const { trace, baggage, problem } = pageTrace(on);
    if (!trace && problem === "") continue;
    const check = (id: CheckId, ok: boolean, example: string) => client.check(id, ok, on, example);
    const other = trace && sent.some((context, index) => index !== at && context.traceId === trace.traceId);
    const received = `the page is in trace ${trace?.traceId}${other ? ", which a concurrent request sent" : ""}`;
    check("continued_trace", trace?.traceId === traceId, `sent trace ${traceId}, ${received} ${problem}`);
    const span = `sent span ${spanId}, the page has span ${trace?.spanId}, which no other page may have`;
    check("continued_span", trace !== undefined && trace.spanId !== spanId && client.isNew(trace.spanId), span);
    check("continued_sampled", trace?.sampled === sampled, `sent sampled ${sampled}, got ${trace?.sampled}`);
    const changed = changedFields(sampling, baggage);
    check("continued_baggage", changed.length === 0, changed.join("; "));
  }
}
