import type { Client } from "./client.ts";
import { SENT_TRACE_PREFIX } from "./context.ts";
import { all, metas, serverTimings, textOf } from "./html.ts";
import type { Response } from "./request.ts";
import { changedSettings } from "./settings.ts";
import { isShareable, type PageTrace, pageTrace } from "./trace.ts";

const SECURITY_HEADERS =
  /^(content-security-policy|strict-transport-security|x-content-type-options|x-frame-options|referrer-policy|permissions-policy|cross-origin-\w+-policy)$/;
const NONCE = /'nonce-([^']+)'/;

const REQUEST_ONLY = ["sentry-trace", "baggage", "traceparent", "tracestate"];

/** https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag: `none` means `noindex, nofollow`. */
const NOINDEX = /\b(noindex|none)\b/i;

/** How shared caches say that they had the answer: https://www.rfc-editor.org/rfc/rfc9111#name-age */
const STORED = /^(age: \d|(cf-cache-status|cache-status|x-cache): .*hit)/i;

/** Error pages of Next and of proxies. */
const ERROR_TEXT =
  /id="__next_error__"|Application error: a (?:client|server)-side exception|"page":"\/_error"|This page couldn’t load|<title>\s*(?:50\d|Internal Server Error)/;

/** A response's security headers, without the nonce. */
export const securityHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => SECURITY_HEADERS.test(name))
      .map(([name, value]) => [name, value.replace(/'nonce-[^']+'/g, "'nonce'")]),
  );
export const nonceOf = ({ headers }: Response): string =>
  NONCE.exec(headers["content-security-policy"] ?? "")?.[1] ?? "";

/** Checks that apply to every answer. */
export function assertResponse(client: Client, on: Response): void {
  const leaked = REQUEST_ONLY.filter((name) => name in on.headers).map((name) => `${name}: ${on.headers[name]}`);
  // The browser reads a document's only.
  const isOther = !isHtml(on) && (on.status < 300 || on.status > 399);
  if (isOther && serverTimings(on, "sentry-trace").length > 0)
    leaked.push(`${on.headers["content-type"]} with Server-Timing: ${on.headers["server-timing"]}`);
  client.check("no_trace_headers", leaked.length === 0, on, leaked.join("; "));
  const cookie = on.headers["set-cookie"] ?? "";
  const inCookie = on.traceId !== "" && cookie.includes(on.traceId);
  client.check("no_trace_cookie", !inCookie, on, `Set-Cookie: ${cookie}`);
  for (const session of sessionsOf(on)) {
    const isOwn = client.isOwn(session) && !isProbed(client, session);
    client.check("own_session", isOwn, on, `another visitor got it, too: Set-Cookie: ${cookie}`);
  }

  const { trace, isInHeader } = pageTrace(on);
  if (isHtml(on) && (cookie !== "" || trace)) {
    const isPrivate = cookie !== "" || !isInHeader;
    const shared = sharedProblem(on, isPrivate);
    client.check("not_shared", shared === "", on, `${shared} on a page with a trace or cookie`);
    if (isPrivate && !on.headers["cache-control"])
      client.warn(on, "no Cache-Control on a page with a trace or cookie: some caches store it. Send private");
  }

  const header = on.headers["x-robots-tag"] ?? "";
  const meta = isHtml(on) ? ["robots", "googlebot"].flatMap((name) => metas(on.body, name)).join(", ") : "";
  const marks = `X-Robots-Tag "${header}", meta robots "${meta}"`;
  if (on.status !== 404)
    client.check("indexable", !NOINDEX.test(`${header},${meta}`), on, `${on.status} with ${marks}`);
  else if (client.options.noindex === "header") client.check("not_found_noindex", NOINDEX.test(header), on, marks);
  else if (client.options.noindex === "meta" && isHtml(on))
    client.check("not_found_noindex", NOINDEX.test(`${header},${meta}`), on, marks);
}

/** How other visitors may get this page from a shared cache; empty if none may. Behind a cache, the app leaves its trace out of the header. */
function sharedProblem(on: Response, isPrivate: boolean): string {
  const stored = Object.entries(on.headers).find(([name, value]) => STORED.test(`${name}: ${value}`));
  if (stored) return `a shared cache answered with ${stored[0]} "${stored[1]}"`;
  const { "cache-control": cache, "cdn-cache-control": cdn = "", expires = "" } = on.headers;
  if (!isPrivate) return "";
  if (/max-age=[1-9]/i.test(cdn)) return `CDN-Cache-Control "${cdn}"`;
  // Without both, most caches store no page: https://www.rfc-editor.org/rfc/rfc9111#name-calculating-heuristic-fresh
  if (!cache) return Date.parse(expires) > Date.now() ? `no Cache-Control, Expires "${expires}"` : "";
  const isProtected = /\b(private|no-store|no-cache)\b/i.test(cache) && !isShareable(on);
  return isProtected ? "" : `Cache-Control "${cache}"`;
}

const isHtml = ({ headers }: Response) => /^text\/html/i.test(headers["content-type"] ?? "");

/** Checks a page; returns whether it is whole. */
export function assertPage(client: Client, on: Response, path: string): boolean {
  assertResponse(client, on);
  const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(on.headers["content-type"] ?? "") ?? [];
  const ok = on.status === 200 && isHtml(on) && /^utf-8$/i.test(charset);
  client.check("page_ok", ok, on, describeResponse(on));
  if (!ok) return false;
  const headers = headersProblem(client, on, path);
  client.check("page_headers", headers === "", on, headers);
  if (nonceOf(on)) {
    const nonce = nonceProblem(client, on);
    client.check("page_nonce", nonce === "", on, nonce);
  }
  if (on.body.length > 5000 && !on.headers["content-encoding"])
    client.warn(on, `${on.body.length} characters of HTML are not compressed: turn on gzip or brotli`);
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
  if (expected !== undefined && !textOf(html).includes(expected))
    return `EXPECT_TEXT "${expected}" is missing: ${begin}; it shows "${textOf(html).slice(0, 120)}"`;
  const before = probed[path]?.length ?? 0;
  if (html.length < before / 2) return `${begin}, and ${before} before the run`;
  return "";
}

function headersProblem({ options, probed }: Client, on: Response, path: string): string {
  const missing = options.expectHeaders.map((declared) => {
    const [, only = path, name = "", how, value = ""] = /^(?:(\/.*?):)?([\w-]+)([=~]?)(.*)$/.exec(declared) ?? [];
    if (only !== path) return "";
    const is = on.headers[name.toLowerCase()];
    if (is === undefined) return `EXPECT_HEADERS: ${name} is missing`;
    const fits = how === "=" ? is === value : how === "" || new RegExp(value, "i").test(is);
    if (!fits) return `EXPECT_HEADERS: ${name} is "${is}", expected ${how} "${value}"`;
    const isPolicy = /^content-security-policy$/i.test(name);
    return isPolicy && !isStrict(is) ? `the policy allows every inline script: "${is}"` : "";
  });
  const now = securityHeaders(on);
  const changed = Object.entries(probed[path]?.headers ?? {}).filter(([name, value]) => now[name] !== value);
  const were = changed.map(([name, value]) => `${name} was "${value}", is ${now[name] ? `"${now[name]}"` : "gone"}`);
  return [...missing, ...were].filter(Boolean).join("; ");
}

/** Whether a policy stops inline scripts that are not the page's own. */
export function isStrict(policy: string): boolean {
  const directives = policy.split(";").map((part) => part.trim());
  const of = (name: string) => directives.find((part) => part.startsWith(`${name} `));
  const scripts = of("script-src-elem") ?? of("script-src") ?? of("default-src") ?? "";
  return !scripts.includes("'unsafe-inline'") || /'(nonce|sha\d+-|strict-dynamic)/.test(scripts);
}

/** https://www.w3.org/TR/CSP3/#match-element-to-source-list */
function nonceProblem(client: Client, on: Response): string {
  const [policy, nonce] = [on.headers["content-security-policy"] ?? "", nonceOf(on)];
  const scripts = all(on.body, "script").filter((tag) => !/json|text\//.test(tag.attr("type") ?? ""));
  const needsNonce = (inline: boolean) => (inline ? !/'sha\d+-/.test(policy) : policy.includes("'strict-dynamic'"));
  const without = scripts.filter((tag) => tag.attr("nonce") !== nonce && needsNonce(tag.attr("src") === undefined));
  if (without.length > 0) return `${without.length} of ${scripts.length} scripts lack the policy's nonce ${nonce}`;
  return isFirst(client, nonce) ? "" : `the nonce ${nonce} was used before`;
}

/** Checks that a page requested without a trace starts a valid one. */
export function assertFreshTrace(client: Client, on: Response, path: string): PageTrace {
  const page = pageTrace(on);
  const changed = changedSettings(client, on, page, path);
  if (changed !== undefined) client.check("same_settings", changed === "", on, changed);
  if (!client.options.trace) return page;
  client.check("fresh_valid", page.problem === "", on, page.problem);
  assertUniqueTrace(client, on);
  const { spanId } = page.trace ?? {};
  if (spanId) client.check("fresh_unique", isFirst(client, spanId), on, `span ${spanId} was on another page`);
  return page;
}

export const sessionsOf = ({ headers }: Response): string[] =>
  Array.from(
    (headers["set-cookie"] ?? "").matchAll(/(?:^|,\s*)[\w.-]*(?:sess|sid|auth|token)[\w.-]*=([^;,\s]{16,})/gi),
  ).map(([, value = ""]) => value);

const isProbed = ({ probed }: Client, id: string) => Object.values(probed).some(({ ids }) => ids.includes(id));

const isFirst = (client: Client, id: string): boolean => client.isNew(id) && !isProbed(client, id);

/** Checks that no other client has the trace of a response to a request without one. */
export function assertUniqueTrace(client: Client, on: Response): void {
  const traceId = pageTrace(on).trace?.traceId;
  if (traceId === undefined) return;
  let problem = client.isNew(traceId) ? "" : "was given to another client before";
  if (isProbed(client, traceId)) problem = "existed before the run: this page is cached";
  if (traceId.startsWith(SENT_TRACE_PREFIX)) problem = "was sent by another client";
  client.check("fresh_unique", problem === "", on, `trace ${traceId} ${problem}`);
}

export function describeResponse(on: Response): string {
  if (on.undecodable) return `a body that cannot be decompressed (${on.error})`;
  if (on.status === 0) return `no response (${on.error})`;
  return `${on.status} ${on.headers["content-type"] ?? "without a content type"}, ${on.body.length} characters`;
}

/** The path to which a response redirects on its origin. */
export function redirectWithin(baseUrl: string, { status, headers: { location = "" } }: Response): string | undefined {
  const to = location.startsWith(`${baseUrl}/`) ? location.slice(baseUrl.length) : location;
  return [301, 302, 303, 307, 308].includes(status) && /^\/(?!\/)/.test(to) ? to : undefined;
}
