import { unescapeHtml } from "./html.ts";

/**
 * Reads from the trace page what the API received: under the page's last heading, each header as `<dt>name</dt><dd>value</dd>`.
 * Earlier headings may show other hops of the same trace, which prove nothing about the call.
 */
export function upstreamHeaders(html: string): Record<string, string> {
  const last = lastSection(html);
  const pairs = last.matchAll(/<dt[^>]*>([^<]*)<\/dt>\s*<dd[^>]*>([^<]*)<\/dd>/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = "", value = ""]) => [unescapeHtml(name), unescapeHtml(value)]),
  );
}

/** What the page says there in words, for an example: why it has no headers to show. */
export function upstreamWords(html: string): string {
  return unescapeHtml(lastSection(html).replace(/<[^>]*>/g, " "))
    .replace(/\s+/g, " ")
    .trim();
}

/** From the last heading to the end of the list or page that it heads. */
function lastSection(html: string): string {
  return html.slice(html.lastIndexOf("<h2")).replace(/(<\/li>|<\/main>|<footer|<script)[\s\S]*$/, "");
}
