import type { Client } from "../lib/client.ts";
import { navigation } from "../lib/navigation.ts";
import { payloadProblem } from "../lib/payload.ts";
import { nextOf, pick } from "../lib/random.ts";
import { assertFreshTrace, assertPage, assertResponse, describeResponse } from "../lib/responses.ts";

/** Opens a page without a trace, then follows a link as the browser's router does, in the trace that the page started. */
export async function browse(client: Client): Promise<void> {
  const { pages, tracePage, baseUrl } = client.options;
  const path = nextOf(pages);
  const page = await client.request({ path, kind: "page" });
  if (!assertPage(client, page, path)) return;
  const { trace, baggage = "" } = assertFreshTrace(client, page);
  if (!client.options.navigation) return;

  const to = pick(tracePage ? [...pages, tracePage] : pages);
  const { path: address, headers } = await navigation(path, to);
  const tracing: Record<string, string> = trace ? { "sentry-trace": `${trace.traceId}-${trace.spanId}`, baggage } : {};
  const request = {
    kind: "navigation",
    name: to,
    headers: { ...headers, ...tracing },
    traceId: trace?.traceId,
  } as const;
  let on = await client.request({ ...request, path: address });
  // Another version of Next hashes `_rsc` differently and redirects to the address with its own hash.
  const { location = "" } = on.headers;
  if (on.status === 307 && location.includes("_rsc"))
    on = await client.request({ ...request, path: location.replace(baseUrl, "") });
  assertResponse(client, on);
  const isPayload = on.status === 200 && /^text\/x-component/.test(on.headers["content-type"] ?? "");
  const problem = isPayload ? payloadProblem(on.body) : describeResponse(on);
  client.check("navigation_ok", problem === "", on, `from ${path}: ${problem}`);
}
