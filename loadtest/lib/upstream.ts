import { all, textOf } from "./html.ts";

/** The headers that the API received, under the trace page's last heading. */
export function upstreamHeaders(html: string): Record<string, string> {
  const section = lastSection(html);
  const [names, values] = ["dt", "dd"].map((tag) => all(section, tag).map((el) => el.text())) as [string[], string[]];
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
}

export const upstreamText = (html: string): string => textOf(lastSection(html));

const lastSection = (html: string): string =>
  html.slice(html.lastIndexOf("<h2")).replace(/(<\/li>|<\/main>|<footer|<script)[\s\S]*$/, "");

/** Whether a page says that the app's own call was not answered. */
export const callFailed = (text: string): boolean =>
  /does not answer|was aborted|time(?:d )?-?out|ECONN|ETIMEDOUT|EAI_AGAIN|socket hang up|other side closed|terminated|fetch failed|responds with (?:429|50[234])/i.test(
    text,
  );
