import { assertPage } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { pick } from "../lib/random.ts";
import { newContext } from "../lib/trace/context.ts";
import { changedFields } from "../lib/trace/sampling-context.ts";

/** Sends a trace, as an instrumented caller does, and checks that the page continues it. */
export async function continued(client: Client): Promise<void> {
  const path = pick(client.options.pages);
  const sent = newContext(client.options.dsn.publicKey);
  const response = await client.request({ path, name: path, headers: sent.headers, traceId: sent.traceId });
  if (!assertPage(client, response, path, sent.traceId)) return;

  const { trace, baggage, problem } = pageTrace(response.body);
  const check = (id: Parameters<Client["check"]>[0], ok: boolean, example: string) =>
    client.check(id, ok, `${path}: ${example}`, sent.traceId);
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
