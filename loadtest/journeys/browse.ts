import { judgeAnswer, judgePage, said } from "../lib/judge.ts";
import { navigation } from "../lib/navigation.ts";
import { pick } from "../lib/random.ts";
import type { Visitor } from "../lib/visitor.ts";
import { judgeFresh } from "./fresh.ts";

/** Opens a page as a newcomer, then follows a link the way the browser's router does, in the trace that the page began. */
export async function browse(visitor: Visitor): Promise<void> {
  const path = pick(visitor.knobs.pages);
  const page = await visitor.ask({ path, name: path });
  if (!judgePage(visitor, page, path)) return;
  const { trace, baggage = "" } = judgeFresh(visitor, page, path);

  const links = visitor.knobs.tracePage ? [...visitor.knobs.pages, visitor.knobs.tracePage] : visitor.knobs.pages;
  const to = pick(links);
  const { path: address, headers } = await navigation(path, to);
  const tracing: Record<string, string> = trace ? { "sentry-trace": `${trace.traceId}-${trace.spanId}`, baggage } : {};
  const ask = { name: `${to} (navigation)`, headers: { ...headers, ...tracing }, traceId: trace?.traceId };
  let answer = await visitor.ask({ ...ask, path: address });
  // Another Next version hashes `_rsc` otherwise, and says where the right one is.
  const { location = "" } = answer.headers;
  if (answer.status === 307 && location.includes("_rsc=")) {
    const relative = location.replace(visitor.knobs.baseUrl, "");
    answer = await visitor.ask({ ...ask, path: relative });
  }
  judgeAnswer(visitor, answer, `${to} (navigation)`);
  const ok = answer.status === 200 && /^text\/x-component/.test(answer.headers["content-type"] ?? "");
  visitor.check("navigation_ok", ok, `${path} to ${to}: ${said(answer)}`, trace?.traceId);
}
