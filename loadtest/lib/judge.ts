import type { Answer, Visitor } from "./visitor.ts";

/** Headers of a request that no answer may carry; `Server-Timing` is how SDKs hand a trace over without markup. */
const REQUEST_ONLY = ["sentry-trace", "baggage", "traceparent", "tracestate"];

/** What every answer owes, whatever was asked: no trace header, and `noindex` on a 404 only. */
export function judgeAnswer(visitor: Visitor, answer: Answer, where: string): void {
  if (answer.status === 0) return;
  const leaked = REQUEST_ONLY.filter((name) => answer.headers[name] !== undefined);
  visitor.check("answers_clean", leaked.length === 0, `${where} answered with ${leaked.join(", ")}`);

  const robots = answer.headers["x-robots-tag"] ?? "";
  const noindex = /\bnoindex\b/.test(robots);
  if (answer.status === 404) visitor.check("not_found_noindex", noindex, `${where}: X-Robots-Tag is "${robots}"`);
  else visitor.check("indexable", !noindex, `${where}: ${answer.status} with X-Robots-Tag "${robots}"`);
}

/** Books `page_ok`; says whether the answer can be read as a page. */
export function judgePage(visitor: Visitor, answer: Answer, where: string, traceId?: string): boolean {
  judgeAnswer(visitor, answer, where);
  const ok = answer.status === 200 && /^text\/html/.test(answer.headers["content-type"] ?? "");
  visitor.check("page_ok", ok, `${where}: ${said(answer)}`, traceId);
  return ok;
}

/** An answer in a few words, for an example. */
export function said(answer: Answer): string {
  if (answer.status === 0) return `no answer (${answer.error})`;
  return `${answer.status} ${answer.headers["content-type"] ?? "without a content type"}`;
}
