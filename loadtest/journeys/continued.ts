import { judgePage } from "../lib/judge.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { pick } from "../lib/random.ts";
import { newContext } from "../lib/trace/context.ts";
import { changedFields } from "../lib/trace/sampling-context.ts";
import type { Visitor } from "../lib/visitor.ts";

/** Arrives with a trace, as a request from an instrumented caller does, and looks at what the page made of it. */
export async function continued(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const sent = newContext(visitor.knobs.dsn.publicKey);
  const answer = await visitor.ask({ path, name: path, headers: sent.headers, traceId: sent.traceId });
  if (!judgePage(visitor, answer, path, sent.traceId)) return;

  const { trace, baggage, problem } = pageTrace(answer.body);
  const check = (id: Parameters<Visitor["check"]>[0], ok: boolean, example: string) =>
    visitor.check(id, ok, `${path}: ${example}`, sent.traceId);
  check(
    "continued_trace",
    trace?.traceId === sent.traceId,
    `the page is in trace ${trace?.traceId} (${problem || "valid"})`,
  );
  check(
    "continued_span",
    trace !== undefined && trace.spanId !== sent.spanId,
    `the page's span id is ${trace?.spanId}`,
  );
  check("continued_sampled", trace?.sampled === sent.sampled, `sent sampled ${sent.sampled}, got ${trace?.sampled}`);
  const changed = changedFields(sent.sampling, baggage);
  check("continued_baggage", changed.length === 0, changed.join("; "));
}
