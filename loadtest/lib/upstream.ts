import { unescapeHtml } from "./html.ts";

/**
 * Reads from the trace page what the API received: under the page's last heading, each header as `<dt>name</dt><dd>value</dd>`.
 * Earlier headings may show other hops of the same trace, which prove nothing about the call.
 */
export function upstreamHeaders(html: string): Record<string, string> {
  const last = html.slice(html.lastIndexOf("<h2"));
  const pairs = last.matchAll(/<dt[^>]*>([^<]*)<\/dt>\s*<dd[^>]*>([^<]*)<\/dd>/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = "", value = ""]) => [unescapeHtml(name), unescapeHtml(value)]),
  );
}
