import { changedFields } from "../lib/baggage.ts";
import type { CheckId } from "../lib/checks.ts";
import type { Client } from "../lib/client.ts";
import { newContext, partialContexts } from "../lib/context.ts";
import { nextOf } from "../lib/random.ts";
import { assertPage } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";

/** Sends a trace, as an instrumented caller does, and checks that the page continues it. */
export async function continued(client: Client): Promise<void> {
  const path = nextOf(client.options.pages);
  const sent = newContext(client.options.dsn.publicKey);
  const on = await client.request({ path, kind: "page", headers: sent.headers, traceId: sent.traceId });
  if (!assertPage(client, on, path)) return;

  const { trace, baggage, problem } = pageTrace(on.body);
  const check = (id: CheckId, ok: boolean, example: string) => client.check(id, ok, on, example);
  const received = `the page is in trace ${trace?.traceId}${problem && ` (${problem})`}`;
  check("continued_trace", trace?.traceId === sent.traceId, `sent trace ${sent.traceId}, ${received}`);
  const span = `sent span ${sent.spanId}, the page has span ${trace?.spanId}`;
  check("continued_span", trace !== undefined && trace.spanId !== sent.spanId, span);
  check("continued_sampled", trace?.sampled === sent.sampled, `sent sampled ${sent.sampled}, got ${trace?.sampled}`);
  const changed = changedFields(sent.sampling, baggage);
  check("continued_baggage", changed.length === 0, changed.join("; "));
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
