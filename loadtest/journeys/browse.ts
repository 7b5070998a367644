import type { Client } from "../lib/client.ts";
import { navigationHeaders, navigationPath } from "../lib/navigation.ts";
import { payloadProblem } from "../lib/payload.ts";
import { randomHex } from "../lib/random.ts";
import { assertFreshTrace, assertPage, assertResponse, describeResponse } from "../lib/responses.ts";

/** Opens a page with a cookie, then follows a link as the browser's router does, in the page's trace. */
export async function browse(client: Client): Promise<void> {
  const { pages, tracePage, navigation, expectText } = client.options;
  const from = client.page();
  const cookie = `loadtest=${randomHex(8)}`;
  const page = await client.request({ path: from, kind: "page", headers: { cookie } });
  if (!assertPage(client, page, from)) return;
  const { trace, baggage = "" } = assertFreshTrace(client, page, from);
  if (!navigation) return;

  const to = client.page(tracePage ? [...pages, tracePage] : pages, 1);
  const flag = trace?.sampled === undefined ? "" : `-${trace.sampled ? 1 : 0}`;
  const tracing: Record<string, string> = trace
    ? { "sentry-trace": `${trace.traceId}-${trace.spanId}${flag}`, baggage }
    : {};
  const on = await client.request({
    path: navigationPath(to, client.probed[from]?.hash ?? ""),
    kind: "navigation",
    name: to,
    headers: { ...navigationHeaders(from), ...tracing, cookie },
    traceId: trace?.traceId,
  });
  assertResponse(client, on);
  const isPayload = on.status === 200 && /^text\/x-component/.test(on.headers["content-type"] ?? "");
  const expected = client.probed[to]?.textInPayload ? (expectText[to] ?? "") : "";
  const other = on.body.includes(expected) ? "" : `the payload of another page: EXPECT_TEXT "${expected}" is missing`;
  // The trace page shows the trace of its own call.
  const [called, kept] = new RegExp(`${trace?.traceId}(?:-\\w{16}(-[01]))?`).exec(on.body) ?? [];
  let lost = called ? "" : `it is not in trace ${trace?.traceId}`;
  if (kept && flag && kept !== flag) lost = `the page was sampled ${flag}, its call ${kept}`;
  if (!trace || to !== tracePage) lost = "";
  const problem = isPayload ? payloadProblem(on.body) || other || lost : describeResponse(on);
  client.check("navigation_ok", problem === "", on, `from ${from}: ${problem}`);
}
