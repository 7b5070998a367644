import { judgeAnswer, said } from "../lib/judge.ts";
import type { Visitor } from "../lib/visitor.ts";

/** Follows a redirect; it must stay on the origin that the visitor used, whatever address the app believes it has. */
export async function redirect(visitor: Visitor): Promise<void> {
  const { redirectPage: path, baseUrl } = visitor.knobs;
  const first = await visitor.ask({ path, name: path });
  judgeAnswer(visitor, first, path);
  const { location = "" } = first.headers;
  const to = location.startsWith(baseUrl) ? location.slice(baseUrl.length) : location;
  if (![301, 302, 303, 307, 308].includes(first.status) || !to.startsWith("/") || to.startsWith("//")) {
    return visitor.check("redirect_ok", false, `${path}: ${said(first)}, Location "${location}"`);
  }
  const second = await visitor.ask({ path: to, name: `${path} (followed)` });
  judgeAnswer(visitor, second, to);
  visitor.check("redirect_ok", second.status === 200, `${path} leads to ${to}: ${said(second)}`);
}
