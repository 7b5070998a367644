import { changedFields } from "../lib/baggage.ts";
import type { CheckId } from "../lib/checks.ts";
import type { Client } from "../lib/client.ts";
import { newContext, partialContexts } from "../lib/context.ts";
import { nextOf } from "../lib/random.ts";
import { answers } from "../lib/request.ts";
import { assertFreshTrace, assertPage } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

const CONCURRENT = 10;

/** Sends a trace, as an instrumented caller does, and checks that the page continues it. */
export const continued = (client: Client): Promise<void> => sendTraces(client, 1);

/**
 * Sends ten traces at the same moment from one virtual user, then ten requests without a trace. If the server mixes up concurrent
 * requests, a page is in the trace of another one.
 */
export async function concurrent(client: Client): Promise<void> {
  await sendTraces(client, CONCURRENT);
  const path = nextOf(client.options.pages);
  const request = { path, kind: "page", untimed: true } as const;
  for (const on of await answers(Array.from({ length: CONCURRENT }, () => client.request(request))))
    if (on && assertPage(client, on, path)) assertFreshTrace(client, on, path);
}

async function sendTraces(client: Client, count: number): Promise<void> {
  const path = nextOf(client.options.pages);
  const sent = Array.from({ length: count }, () => newContext(client.options.dsn.publicKey));
  const how = { path, kind: "page", untimed: count > 1 } as const;
  const pages = sent.map(({ headers, traceId }) => client.request({ ...how, headers, traceId }));
  for (const [at, on] of (await answers(pages)).entries()) {
    const { traceId, spanId, sampled, sampling } = sent[at] as (typeof sent)[number];
    if (!on || !assertPage(client, on, path)) continue;
    const { trace, baggage, problem } = pageTrace(on.body);
    const check = (id: CheckId, ok: boolean, example: string) => client.check(id, ok, on, example);
    const other = trace && sent.some((one, index) => index !== at && one.traceId === trace.traceId);
    const received = `the page is in trace ${trace?.traceId}${other ? ", which a concurrent request sent" : ""}`;
    check("continued_trace", trace?.traceId === traceId, `sent trace ${traceId}, ${received} ${problem}`);
    const span = `sent span ${spanId}, the page has span ${trace?.spanId}, which no other page may have`;
    check("continued_span", trace !== undefined && trace.spanId !== spanId && client.isNew(trace.spanId), span);
    check("continued_sampled", trace?.sampled === sampled, `sent sampled ${sampled}, got ${trace?.sampled}`);
    const changed = changedFields(sampling, baggage);
    check("continued_baggage", changed.length === 0, changed.join("; "));
  }
}

/**
 * Sends what callers without Sentry's SDK send: `traceparent` only, no sampling decision, `tracestate`. The page continues the trace or
 * starts its own, and never mixes the two. A `sentry-trace` without a decision must be continued.
 */
export async function callers(client: Client): Promise<void> {
  for (const { name, headers, traceId, spanId, mustContinue } of partialContexts()) {
    const path = nextOf(client.options.pages);
    const on = await client.request({ path, kind: "page", headers, traceId, untimed: true });
    if (!assertPage(client, on, path)) continue;
    const { trace, problem } = pageTrace(on.body);
    const continues = trace?.traceId === traceId;
    const ok = problem === "" && trace?.spanId !== spanId && (continues || !mustContinue);
    const received = `the page has trace ${trace?.traceId}, span ${trace?.spanId}`;
    client.check("continued_caller", ok, on, `${name}: sent trace ${traceId}, span ${spanId}; ${received} ${problem}`);
  }
}
