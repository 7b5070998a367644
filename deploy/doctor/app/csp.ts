import { forbidsTunnel, metaPolicy } from "../checks/page.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks which policy the page asks for, and what of it the strict one would block. */
export function securityHeaders({ requests: { headers, html, nonce, path }, settings }: AppFacts): Result[] {
  const check = "security headers";
  if (!html) return [];
  const own = headers["content-security-policy"];
  const directive = forbidsTunnel(
    [own ?? "", metaPolicy(html)],
    (settings.SERVER_NAME || "localhost").split(/[ ,]+/).filter(Boolean),
  );
  if (directive)
    return [
      unknown(
        check,
        `the app's own policy has ${directive}, so browsers send no events through the tunnel`,
        "connect-src 'self', and what else the app calls",
      ),
    ];
  if (own) return [ok(check, "the app has a policy of its own")];
  const blocked = violations(html, nonce);
  const list = blocked.join(", ");
  if (headers["x-security-headers"] === "strict") {
    if (headers["x-nextjs-prerender"] || blocked.length === 0) return [ok(check, `${path} asks for the strict ones`)];
    return [
      failed(
        check,
        `${path} asks for the strict ones, which block ${list}`,
        "render it per request, and move styles to files",
      ),
    ];
  }
  if (blocked.length === 0)
    return [
      ok(
        check,
        `none that break a page; ${path} would work with the strict headers (X-Security-Headers: strict, CONTENT_SECURITY_POLICY=enforce)`,
      ),
    ];
  return [ok(check, `none that break a page; on ${path} the strict ones would block ${list}`)];
}

/** Returns what of a page a policy blocks that allows scripts and styles with this nonce and files of its own origin. */
export function violations(html: string, nonce: string): string[] {
  const tags = [...html.matchAll(/<(script|style|link)\b([^>]*)>/gi)].map(([, tag = "", attributes = ""]) => ({
    tag: tag.toLowerCase(),
    attributes,
  }));
  const value = (attributes: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
  const isData = (attributes: string) => /json/.test(value(attributes, "type"));
  const without = (tag: string) =>
    tags.filter((one) => one.tag === tag && value(one.attributes, "nonce") !== nonce && !isData(one.attributes)).length;
  const foreign = tags.filter(
    ({ tag, attributes }) =>
      tag === "link" &&
      /stylesheet/.test(value(attributes, "rel")) &&
      /^(?:https?:)?\/\//.test(value(attributes, "href")),
  ).length;
  const counts: [number, string][] = [
    [without("script"), "script without the nonce"],
    [without("style"), "style element without the nonce"],
    [html.match(/<[a-z][^>]*\sstyle="/gi)?.length ?? 0, "style attribute"],
    [html.match(/<[a-z][^>]*\son[a-z]+="/gi)?.length ?? 0, "event handler in the markup"],
    [foreign, "style sheet of another site"],
  ];
  return counts.filter(([count]) => count > 0).map(([count, what]) => `${count} × ${what}`);
}
