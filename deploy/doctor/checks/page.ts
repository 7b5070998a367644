import { exchange, request, type Target, unsampledTrace } from "../http.ts";
import { failed, ok, type Result, reason, unknown } from "../result.ts";

/** A page that no app has. */
export const NO_SUCH_PAGE = "/culvert-doctor-no-such-page";

/** Asks for a page within a trace, which is not sampled: it answers, continues the trace, and its policy allows the tunnel. Never rejects. */
export async function page(target: Target, path: string, names: string[]): Promise<Result[]> {
  const header = unsampledTrace();
  const id = header.slice(0, 32);
  const headers = {
    "sentry-trace": header,
    baggage: `sentry-trace_id=${id},sentry-sampled=false`,
    Accept: "text/html",
  };
  try {
    const { status, headers: answered, body } = await request(target, path, { headers });
    if (status >= 500) return [failed("page", `${path} answers ${status}`, "docker compose logs --tail 20 web")];
    const directive = forbidsTunnel([String(answered["content-security-policy"] ?? ""), metaPolicy(body)], names);
    const fix = "add 'self' to its connect-src";
    const policy = directive
      ? [failed("csp", `the app's own policy has ${directive}, so browsers send no events through the tunnel`, fix)]
      : [];
    const first = [ok("page", `${path} answers ${status}`), ...policy];
    const own = trace(body, id, path);
    if (own) return [...first, own];
    // The page for an unknown address is often the only one that is rendered for each request.
    const missing = `${target.basePath}${NO_SUCH_PAGE}`;
    const none = unknown(
      "trace",
      `${path} carries no <meta name="sentry-trace">: prerendered, or not instrumented`,
      "PAGE=/path tries another page",
    );
    return [...first, trace((await request(target, missing, { headers })).body, id, missing) ?? none];
  } catch (error) {
    return [
      failed("page", `${path} does not answer (${reason(error)})`, "docker compose ps; docker compose logs proxy web"),
    ];
  }
}

/** Returns whether the page's `<meta name="sentry-trace">` names this trace; undefined without one. */
function trace(body: string, id: string, path: string): Result | undefined {
  const continued = /<meta[^>]*name="sentry-trace"[^>]*content="([0-9a-f]{32})-/.exec(body)?.[1];
  if (!continued) return undefined;
  if (continued === id) return ok("trace", `${path} continues it`);
  return failed(
    "trace",
    `${path} is part of another trace`,
    "is the page prerendered, or are trace headers removed in front?",
  );
}

/** Returns the policy in a page's markup. */
export const metaPolicy = (html: string) =>
  /<meta[^>]*http-equiv="content-security-policy"[^>]*content="([^"]*)"/i.exec(html)?.[1]?.replaceAll("&#x27;", "'") ??
  "";

/** Returns the directive of these policies that keeps pages of these names from requests to their own site, if any. */
export function forbidsTunnel(policies: string[], names: string[]): string | undefined {
  for (const policy of policies.flatMap((one) => one.split(",")).filter(Boolean)) {
    const directives = policy.split(";").map((text) => text.trim().split(/\s+/));
    const named = (name: string) => directives.find(([first = ""]) => first.toLowerCase() === name);
    const [name, ...sources] = named("connect-src") ?? named("default-src") ?? ["", "*"];
    const isOwn = (source: string) =>
      /^(?:\*|https:|'self')$/i.test(source) || names.some((one) => source.includes(one));
    if (!sources.some(isOwn)) return [name, ...sources].join(" ");
  }
  return undefined;
}

/** Asks web itself for the tunnel's path: a page of the app there is hidden by the tunnel. `web` is its host and port. */
export async function hiddenPage(
  { basePath, tunnelPath }: Target,
  web: { host: string; port: number },
): Promise<Result[]> {
  const paths = [...new Set([tunnelPath, `${basePath}${tunnelPath}`])];
  const answers = await Promise.all(
    paths.map(async (path) => ({ path, ...(await exchange({ ...web, path }, { headers: { Accept: "text/html" } })) })),
  );
  const hidden = answers.find(({ status, headers }) => status < 400 && /html/.test(headers["content-type"] ?? "html"));
  if (!hidden) return [];
  return [
    failed(
      "tunnel path",
      `the app has a page at ${hidden.path}, which the tunnel hides`,
      "another TUNNEL_PATH, such as /k7f2a9, here and in the app",
    ),
  ];
}
