import { assertPage, assertResponse, describeResponse } from "../lib/assertions.ts";
import type { Client } from "../lib/client.ts";
import { assertFreshTrace } from "../lib/fresh-trace.ts";
import { navigation } from "../lib/navigation.ts";
import { pick } from "../lib/random.ts";

/** Opens a page without a trace, then follows a link as the browser's router does, in the trace that the page started. */
export async function browse(client: Client): Promise<void> {
  const path = pick(client.options.pages);
  const page = await client.request({ path, name: path });
  if (!assertPage(client, page, path)) return;
  const { trace, baggage = "" } = assertFreshTrace(client, page, path);

  const links = client.options.tracePage ? [...client.options.pages, client.options.tracePage] : client.options.pages;
  const to = pick(links);
  const { path: address, headers } = await navigation(path, to);
  const tracing: Record<string, string> = trace ? { "sentry-trace": `${trace.traceId}-${trace.spanId}`, baggage } : {};
  const request = { name: `${to} (navigation)`, headers: { ...headers, ...tracing }, traceId: trace?.traceId };
  let response = await client.request({ ...request, path: address });
  // Another version of Next hashes `_rsc` differently and redirects to the address with its own hash.
  const { location = "" } = response.headers;
  if (response.status === 307 && location.includes("_rsc=")) {
    const relative = location.replace(client.options.baseUrl, "");
    response = await client.request({ ...request, path: relative });
  }
  assertResponse(client, response, `${to} (navigation)`);
  const ok = response.status === 200 && /^text\/x-component/.test(response.headers["content-type"] ?? "");
  client.check("navigation_ok", ok, `${path} to ${to}: ${describeResponse(response)}`, trace?.traceId);
}
