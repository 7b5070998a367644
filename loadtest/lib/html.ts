import { parseHTML, type Selection } from "k6/html";
import type { Response } from "./request.ts";

let last: { html: string; root: Selection } | undefined;

/** The elements that match a CSS selector. A page is parsed once. */
export function all(html: string, selector: string): Selection[] {
  if (last?.html !== html) last = { html, root: parseHTML(html) };
  return last.root.find(selector).toArray();
}

/** The contents of every `<meta>` with that name. */
export const metas = (html: string, name: string): string[] =>
  (html.toLowerCase().includes(name) ? all(html, "meta") : [])
    .filter((meta) => meta.attr("name")?.toLowerCase() === name)
    .map((meta) => meta.attr("content") ?? "");

/** The text that a page shows, without the comments that React puts into it. */
export function textOf(html: string): string {
  const shown = html.replace(/<(script|style)\b[\s\S]*?<\/\1>|<!--[\s\S]*?-->/gi, "").replace(/</g, " <");
  return parseHTML(shown).find("body").text().replace(/\s+/g, " ").trim();
}

/** The build's files that a page references, each once. */
export function assets(html: string): string[] {
  const links = all(html, "script[src], link[href]").map((tag) => tag.attr("src") ?? tag.attr("href") ?? "");
  return [...new Set(links.filter((link) => /^\/(?!\/).*_next\/static\//.test(link)))];
}

/** The descriptions of a metric in a response's Server-Timing: https://www.w3.org/TR/server-timing/ */
export const serverTimings = ({ headers }: Pick<Response, "headers">, metric: string): string[] =>
  Array.from(
    (headers["server-timing"] ?? "").matchAll(new RegExp(`(?:^|,)\\s*${metric};desc="([^"]*)"`, "g")),
    ([, description = ""]) => description,
  );
