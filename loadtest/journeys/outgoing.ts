import { judgeAnswer, judgePage, said } from "../lib/judge.ts";
import { parseBaggage } from "../lib/trace/baggage.ts";
import { newContext, type SentContext } from "../lib/trace/context.ts";
import { changedFields, thirdParty } from "../lib/trace/sampling-context.ts";
import { parseSentryTrace } from "../lib/trace/sentry-trace.ts";
import { parseTraceParent } from "../lib/trace/traceparent.ts";
import { upstreamHeaders, upstreamWords } from "../lib/upstream.ts";
import type { Visitor } from "../lib/visitor.ts";

/** Asks for the page that calls an API while it renders, and reads from it what that API received. */
export async function outgoing(visitor: Visitor): Promise<void> {
  const path = visitor.knobs.tracePage;
  const sent = newContext(visitor.knobs.dsn.publicKey);
  const answer = await visitor.ask({ path, name: path, headers: sent.headers, traceId: sent.traceId });
  if (!judgePage(visitor, answer, path, sent.traceId)) return;

  const seen = upstreamHeaders(answer.body);
  const continues = (trace?: { traceId: string; spanId: string; sampled?: boolean }) =>
    trace?.traceId === sent.traceId && trace.spanId !== sent.spanId && trace.sampled === sent.sampled;
  const says = `${path} says: ${upstreamWords(answer.body)}`;
  visitor.check("outgoing_trace", continues(parseSentryTrace(seen["sentry-trace"])), says, sent.traceId);
  visitor.check("outgoing_traceparent", continues(parseTraceParent(seen.traceparent)), says, sent.traceId);
  const changed = changedFields(sent.sampling, seen.baggage);
  visitor.check("outgoing_baggage", changed.length === 0, `${path}: ${changed.join("; ")}`, sent.traceId);
  const vendor = thirdParty(parseBaggage(seen.baggage) ?? []).filter(({ key }) => key === sent.vendor.key);
  const whole = vendor.length === 0 || (vendor.length === 1 && vendor[0]?.value === sent.vendor.value);
  visitor.check("outgoing_vendor", whole, `${path}: the API received "${seen.baggage}"`, sent.traceId);
}

/** Asks the echo what reached the app itself: a proxy that drops or rewrites a trace header shows here first. */
export async function forwarded(visitor: Visitor): Promise<void> {
  const path = visitor.knobs.echoPath;
  const sent = newContext(visitor.knobs.dsn.publicKey);
  const answer = await visitor.ask({ path, name: path, headers: sent.headers, traceId: sent.traceId });
  judgeAnswer(visitor, answer, path);
  const changed = changedHeaders(sent, answer.body);
  visitor.check(
    "forwarded",
    changed === "",
    `${path}: ${answer.status === 200 ? changed : said(answer)}`,
    sent.traceId,
  );
}

function changedHeaders(sent: SentContext, body: string): string {
  const seen = echoed(body);
  const changed = Object.entries(sent.headers).filter(([name, value]) => seen[name] !== value);
  return changed.map(([name]) => `${name} arrived as "${seen[name]}"`).join("; ");
}

function echoed(body: string): Record<string, unknown> {
  try {
    const json = JSON.parse(body);
    return json.headers ?? json;
  } catch {
    return {};
  }
}
