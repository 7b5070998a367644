import type { Client } from "../lib/client.ts";
import { navigationHeaders, navigationPath } from "../lib/navigation.ts";
import { payloadProblem } from "../lib/payload.ts";
import { nextOf, pick } from "../lib/random.ts";
import { assertFreshTrace, assertPage, assertResponse, describeResponse } from "../lib/responses.ts";

/** Opens a page without a trace, then follows a link as the browser's router does, in the trace that the page started. */
export async function browse(client: Client): Promise<void> {
  const { pages, tracePage, navigation } = client.options;
  const from = nextOf(pages);
  const page = await client.request({ path: from, kind: "page" });
  if (!assertPage(client, page, from)) return;
  const { trace, baggage = "" } = assertFreshTrace(client, page);
  if (!navigation) return;

  const to = pick(tracePage ? [...pages, tracePage] : pages);
  const tracing: Record<string, string> = trace ? { "sentry-trace": `${trace.traceId}-${trace.spanId}`, baggage } : {};
  const on = await client.request({
    path: navigationPath(to, client.probed[from]?.hash ?? ""),
    kind: "navigation",
    name: to,
    headers: { ...navigationHeaders(from), ...tracing },
    traceId: trace?.traceId,
  });
  assertResponse(client, on);
  const isPayload = on.status === 200 && /^text\/x-component/.test(on.headers["content-type"] ?? "");
  const problem = isPayload ? payloadProblem(on.body) : describeResponse(on);
  client.check("navigation_ok", problem === "", on, `from ${from}: ${problem}`);
}
