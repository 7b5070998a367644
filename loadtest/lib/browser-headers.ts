import type { Request } from "./request.ts";

const language = { "accept-language": "en-US,en;q=0.9", "accept-encoding": "gzip, deflate, br, zstd" };
const ask = (accept: string, dest: string, mode: string, site = "same-origin") => ({
  accept,
  ...language,
  "sec-fetch-dest": dest,
  "sec-fetch-mode": mode,
  "sec-fetch-site": site,
});
const PAGE = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

/** As Chromium asks. */
export const BROWSER_HEADERS = {
  document: ask(PAGE, "document", "navigate", "none"),
  form: ask(PAGE, "document", "navigate"),
  fetch: ask("*/*", "empty", "cors"),
  script: ask("*/*", "script", "no-cors"),
  style: ask("text/css,*/*;q=0.1", "style", "no-cors"),
};

/** What a browser sends with a request. */
export function browserHeaders({ kind, path, as }: Request): Record<string, string> {
  if (as) return BROWSER_HEADERS[as];
  if (kind === "page" || kind === "redirect" || kind === "404") return BROWSER_HEADERS.document;
  if (kind === "file") return /\.css(\?|$)/.test(path) ? BROWSER_HEADERS.style : BROWSER_HEADERS.script;
  return kind === "action" ? BROWSER_HEADERS.form : BROWSER_HEADERS.fetch;
}
