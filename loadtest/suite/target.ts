import { type Probe, probe } from "../lib/client.ts";
import { type Dsn, foreignProject } from "../lib/dsn.ts";
import { sayFailure } from "../lib/failures.ts";
import { navigationHeaders, navigationPath } from "../lib/navigation.ts";
import type { Options } from "../lib/options.ts";
import type { Response } from "../lib/request.ts";
import { describeResponse, nonceOf, securityHeaders, sessionsOf } from "../lib/responses.ts";
import { settingsOf } from "../lib/settings.ts";
import { pageTrace } from "../lib/trace.ts";

/** The problem with a declared address; empty for an answer of a faulty target, such as 500, which the run reports. */
export function targetProblem({ baseUrl }: Options, setting: string, path: string, on: Response): string {
  const target = `BASE_URL ${baseUrl}`;
  if (on.undecodable) return "";
  const fixes = /x509|certificate/.test(on.error)
    ? "set SSL_CERT_FILE to its CA"
    : "is it up, are name and port right?";
  if (on.status === 0) return `${target}: no response (${on.error}): ${fixes}`;
  const isPage = setting === "PAGES" && on.status >= 300 && on.status < 500;
  if (on.status !== 404 && !isPage) return "";
  const fix =
    setting === "PAGES" ? "name pages that exist, or set PAGES=off" : "name one that exists, or declare it off";
  return `${target}: ${setting} ${path} responds ${describeResponse(on)}: ${fix}`;
}

/** Asks once for everything that is declared, and keeps what later answers are compared with. Throws if nothing can run. */
export async function probeTarget(options: Options, run = ""): Promise<Record<string, Probe>> {
  const { pages, tracePage, actionPage, echoPath, redirectPage, tunnelPath, dsn } = options;
  if (tunnelPath) {
    const problem = targetProblem(options, "TUNNEL_PATH", tunnelPath, await probeTunnel(options, tunnelPath, dsn));
    if (problem) throw new Error(problem);
  }
  const others = { TRACE_PAGE: tracePage, ACTION_PAGE: actionPage, ECHO_PATH: echoPath, REDIRECT_PAGE: redirectPage };
  const declared = [...pages.map((path) => ["PAGES", path] as const), ...Object.entries(others)];
  const probed: Record<string, Probe> = {};
  for (const [setting, path] of declared) {
    if (path === "" || probed[path]) continue;
    const on = await probe(options, { path, kind: setting === "ECHO_PATH" ? "echo" : "page" });
    const problem = targetProblem(options, setting, path, on);
    if (problem) throw new Error(problem);
    if (on.status === 200 && setting !== "ECHO_PATH") probed[path] = await factsOf(options, path, on);
  }
  if (run) await warnOfRobots(options, run);
  return probed;
}

/** Sends an envelope that the tunnel must reject. */
export const probeTunnel = (options: Options, path: string, dsn: Dsn): Promise<Response> =>
  probe(options, { method: "POST", path: `${path}?o=1&p=${foreignProject(dsn)}`, body: "{}", kind: "rejected" });

/** Warns if robots.txt keeps search engines from every page: https://www.rfc-editor.org/rfc/rfc9309 */
async function warnOfRobots(options: Options, run: string): Promise<void> {
  const on = await probe(options, { path: "/robots.txt", kind: "file", as: "fetch" });
  const [, all = ""] = on.body.split(/^user-agent:\s*\*\s*$/im);
  if (on.status !== 200 || !/^disallow:\s*\/\s*$/im.test(all.replace(/^user-agent:[\s\S]*/im, ""))) return;
  const text = "Disallow: / keeps every page out of search engines";
  await sayFailure(options.reader, run, { check: "warning", at: on.at, traceId: "", text });
}

async function factsOf(options: Options, path: string, on: Response): Promise<Probe> {
  const page = pageTrace(on);
  const { traceId = "", spanId = "" } = page.trace ?? {};
  // Next's data of this page, which a navigation to it gets too.
  const data = on.body.match(/<script[^>]*>[^<]*self\.__next_f[\s\S]*?<\/script>/g)?.join("") ?? "";
  return {
    ids: [traceId, spanId, nonceOf(on), ...sessionsOf(on)].filter(Boolean),
    length: on.body.length,
    hash: options.navigation ? await navigationHash(options, path) : "",
    headers: securityHeaders(on),
    settings: settingsOf(on, page),
    textInPayload: data.includes(options.expectText[path] ?? "\n"),
  };
}

/** The hash of a navigation from this page, to which Next redirects; older versions need none. */
async function navigationHash(options: Options, from: string): Promise<string> {
  const headers = navigationHeaders(from);
  const on = await probe(options, { path: navigationPath(from, "0"), headers, kind: "navigation" });
  return /[?&]_rsc=([^&]*)/.exec(on.headers.location ?? "")?.[1] ?? "0";
}
