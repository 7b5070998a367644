import type { Client } from "./client.ts";
import { SENT_TRACE_PREFIX } from "./context.ts";
import { metas } from "./html.ts";
import type { Response } from "./request.ts";
import { type PageTrace, pageTrace } from "./trace.ts";

/** Trace headers that belong in requests only; SDKs return a trace to the client in the page's markup or `Server-Timing`. */
const REQUEST_ONLY = ["sentry-trace", "baggage", "traceparent", "tracestate"];

/** https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag: `none` means `noindex, nofollow`. */
const NOINDEX = /\b(noindex|none)\b/i;

/** Next's own error documents, and the texts that proxies and older versions of Next answer with. */
const ERROR_TEXT =
  /id="__next_error__"|Application error: a (?:client|server)-side exception|"page":"\/_error"|This page couldn’t load|<title>\s*(?:50\d|Internal Server Error)/;

/** Checks that apply to every answer: no trace in headers or cookies, no shared cache for a traced page, noindex on 404s only. */
export function assertResponse(client: Client, on: Response): void {
  const leaked = REQUEST_ONLY.filter((name) => on.headers[name] !== undefined);
  client.check(
    "no_trace_headers",
    leaked.length === 0,
    on,
    leaked.map((name) => `${name}: ${on.headers[name]}`).join("; "),
  );
  const cookie = on.headers["set-cookie"] ?? "";
  const inCookie = on.traceId !== "" && cookie.includes(on.traceId);
  client.check("no_trace_cookie", !inCookie, on, `Set-Cookie: ${cookie}`);

  const cache = on.headers["cache-control"] ?? "";
  if (isHtml(on) && pageTrace(on.body).trace)
    client.check(
      "not_shared",
      !/\bpublic\b|s-maxage=[1-9]/i.test(cache),
      on,
      `Cache-Control "${cache}" on a page with a trace`,
    );

  const header = on.headers["x-robots-tag"] ?? "";
  const meta = isHtml(on) ? metas(on.body, "robots").join(", ") : "";
  const marks = `X-Robots-Tag "${header}", meta robots "${meta}"`;
  if (on.status !== 404)
    client.check("indexable", !NOINDEX.test(`${header},${meta}`), on, `${on.status} with ${marks}`);
  else if (client.options.noindex === "header") client.check("not_found_noindex", NOINDEX.test(header), on, marks);
  else if (client.options.noindex === "meta" && isHtml(on))
    client.check("not_found_noindex", NOINDEX.test(`${header},${meta}`), on, marks);
}

const isHtml = ({ headers }: Response) => /^text\/html/i.test(headers["content-type"] ?? "");

/** Records `page_ok` and `page_complete`; returns whether the response is a page. */
export function assertPage(client: Client, on: Response, path: string): boolean {
  assertResponse(client, on);
  const ok = on.status === 200 && isHtml(on);
  client.check("page_ok", ok, on, describeResponse(on));
  if (!ok) return false;
  const problem = incomplete(client, on.body, path);
  client.check("page_complete", problem === "", on, problem);
  return problem === "";
}

function incomplete({ options, probed }: Client, html: string, path: string): string {
  const begin = `${html.length} characters that begin "${html.slice(0, 60).replace(/\s+/g, " ")}"`;
  const [error] = ERROR_TEXT.exec(html) ?? [];
  if (error) return `an error page with status 200: it contains ${error}`;
  if (!/<\/html>\s*$/i.test(html.slice(-2000))) return `</html> is missing: ${begin} and end "${html.slice(-40)}"`;
  const expected = options.expectText[path];
  if (expected !== undefined && !html.includes(expected)) return `EXPECT_TEXT "${expected}" is missing: ${begin}`;
  const before = probed[path]?.length ?? 0;
  if (html.length < before / 2) return `${begin}, and ${before} before the run`;
  return "";
}

/** Checks a page that was requested without any trace header: it must start a valid trace that no other client shares. */
export function assertFreshTrace(client: Client, on: Response): PageTrace {
  const page = pageTrace(on.body);
  if (!client.options.trace) return page;
  client.check("fresh_valid", page.problem === "", on, page.problem);
  assertUniqueTrace(client, on);
  return page;
}

/**
 * Checks that the trace in a response, if there is one, belongs to this client alone. Applies to every response to a
 * request without trace headers, because a cached 404 page shares a trace just like a cached front page.
 */
export function assertUniqueTrace(client: Client, on: Response): void {
  const traceId = pageTrace(on.body).trace?.traceId;
  if (traceId === undefined) return;
  const problem = sharedWith(client, traceId);
  client.check("fresh_unique", problem === "", on, `trace ${traceId} ${problem}`);
}

function sharedWith(client: Client, traceId: string): string {
  if (traceId.startsWith(SENT_TRACE_PREFIX)) return "was sent by another client";
  if (Object.values(client.probed).some((probe) => probe.traceId === traceId))
    return "existed before the run: this page is cached";
  return client.isNewTrace(traceId) ? "" : "was given to another client before";
}

/** Describes a response in a few words for a failure example. */
export function describeResponse(on: Response): string {
  if (on.status === 0) return `no response (${on.error})`;
  return `${on.status} ${on.headers["content-type"] ?? "without a content type"}, ${on.body.length} characters`;
}

/** The path to which a response redirects, if that is on the same origin. */
export function redirectWithin(baseUrl: string, { status, headers: { location = "" } }: Response): string | undefined {
  const to = location.startsWith(`${baseUrl}/`) ? location.slice(baseUrl.length) : location;
  return [301, 302, 303, 307, 308].includes(status) && /^\/(?!\/)/.test(to) ? to : undefined;
}
