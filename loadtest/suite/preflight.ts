import type { Request, Response } from "../lib/client.ts";
import { metas } from "../lib/html.ts";
import { isLocal, OptionError, type Options, readOptions } from "../lib/options.ts";
import { pageTrace } from "../lib/page-trace.ts";
import { randomHex } from "../lib/random.ts";
import { describeResponse } from "../lib/responses.ts";
import { newContext } from "../lib/trace/context.ts";
import { probe } from "./k6-client.ts";

/**
 * Checks the response for one of the pages before the run; returns the problem in one line, empty if there is none.
 *
 * A typing error is thus reported in one line instead of ten thousand failed requests.
 */
export function targetProblem(options: Options, page: string, response: Response): string {
  const target = `BASE_URL ${options.baseUrl}`;
  if (response.status === 0) return `${target}: ${unreachable(response.error)}`;
  if (response.status !== 200)
    return `${target}: ${page} responds ${describeResponse(response)}, not 200: set PAGES to pages that exist`;
  if (options.trace && pageTrace(response.body).trace === undefined)
    return `${target}: ${page} has no sentry-trace meta: name other PAGES, or set TRACE=off for an app without Sentry's tracing`;
  return "";
}

function unreachable(error: string): string {
  if (/no such host|lookup|ENOTFOUND/.test(error)) return "host not found: check the name";
  if (/x509|certificate/.test(error)) return "its certificate is not trusted: set SSL_CERT_FILE to its CA";
  if (/refused/.test(error)) return "connection refused: is the stack up, is the port right?";
  if (/HTTPS|tls|malformed/i.test(error)) return `not TLS, or the wrong port (${error})`;
  return `no response (${error})`;
}

/** What the preflight found: settings that the environment leaves open, and remarks. */
export interface Found {
  settings: Record<string, string>;
  remarks: string[];
  problem?: string;
}

type Env = Record<string, string | undefined>;
type Get = (request: Omit<Request, "kind">) => Promise<Response>;

/** Asks the target with a dozen requests, none of which changes or stores anything. */
export async function detect(env: Env): Promise<Found> {
  let options: Options;
  try {
    // run.sh replaces a port by the reader's address later.
    options = readOptions({ ...env, INGEST: "", SENTRY_DSN: env.SENTRY_DSN || "http://unknown@ingest/1" });
  } catch (error) {
    if (error instanceof OptionError) return { settings: {}, remarks: [], problem: error.message };
    throw error;
  }
  const get: Get = (request) => probe(options, { ...request, kind: "page" });
  const pages = await Promise.all(options.pages.map((path) => get({ path })));
  const problems = pages.map((page, at) => targetProblem({ ...options, trace: false }, options.pages[at] ?? "/", page));
  const problem = problems.find(Boolean);
  if (problem) return { settings: {}, remarks: [], problem };

  const remarks: string[] = [];
  const traced = options.pages.filter((_, at) => pageTrace(pages[at]?.body ?? "").trace);
  const untraced = options.pages.filter((path) => !traced.includes(path));
  const html = pages.map(({ body }) => body).join("\n");
  const isApp = html.includes("self.__next_f");
  if (!isApp && !html.includes("__NEXT_DATA__"))
    remarks.push("the pages are not Next's: no component payload is tested");
  if (untraced.length > 0) remarks.push(`without a sentry-trace meta: ${untraced.join(", ")}`);
  const form = options.pages.find((_, at) => pages[at]?.body.includes('name="$ACTION_'));
  if (form && !env.ACTION_PAGE)
    remarks.push(`${form} has a server action: test it with ACTION_PAGE=${form} ACTION_EXPECT=…`);
  const { tunnel, ...telemetry } = await findTunnel(env, options, get, html);
  const missing = await get({ path: `/no-such-page-${randomHex(6)}` });
  const inMeta = /noindex/.test(metas(missing.body, "robots").join());
  const settings = {
    PAGES: (traced.length > 0 ? traced : options.pages).join(","),
    TRACE: traced.length > 0 ? "on" : "off",
    ROUTER: isApp ? "app" : "pages",
    // Behind Culvert's proxy the header must be there, whatever the app's own markup says.
    NOINDEX: !tunnel && missing.headers["x-robots-tag"] === undefined ? (inMeta ? "meta" : "off") : "header",
    ...(await findExamplePages(options, get)),
    ...telemetry,
  };
  return {
    settings: Object.fromEntries(Object.entries(settings).filter(([name]) => !env[name] || name === "PAGES")),
    remarks,
  };
}

/** Culvert's own app says where its tunnel is; any other tunnel of Culvert rejects a foreign project with 403. */
async function findTunnel(env: Env, { tunnelPath, baseUrl, foreignProject }: Options, get: Get, html: string) {
  const [meta = "{}"] = metas(html, "culvert-telemetry");
  const own: { dsn?: string; tunnelPath?: string } = JSON.parse(meta);
  const path = env.TUNNEL_PATH ? tunnelPath : (own.tunnelPath ?? tunnelPath);
  const answer = path && (await get({ method: "POST", path: `${path}?o=1&p=${foreignProject}`, body: "{}" }));
  const isTunnel = answer && answer.status === 403;
  const dsn = env.SENTRY_DSN || own.dsn || (isLocal(baseUrl) ? "http://culvert@ingest:8969/1" : "");
  const tunnel = Boolean(isTunnel && dsn) || Boolean(env.TUNNEL_PATH && dsn);
  return { tunnel, TUNNEL_PATH: tunnel ? path : "off", ...(tunnel ? { SENTRY_DSN: dsn } : {}) };
}

/** The pages that only the example app has. */
async function findExamplePages(
  { tracePage, echoPath, actionPage, redirectPage }: Options,
  get: Get,
): Promise<Record<string, string>> {
  const { headers } = newContext("preflight");
  const of = async (path: string, holds: (on: Response) => boolean) =>
    path && holds(await get({ path, headers })) ? path : "off";
  return {
    TRACE_PAGE: await of(tracePage, ({ status, body }) => status === 200 && /<dt[^>]*>sentry-trace/.test(body)),
    ECHO_PATH: await of(
      echoPath,
      ({ status, body }) => status === 200 && body.startsWith("{") && body.includes("sentry-trace"),
    ),
    ACTION_PAGE: await of(actionPage, ({ status, body }) => status === 200 && body.includes('name="$ACTION_')),
    REDIRECT_PAGE: await of(
      redirectPage,
      ({ status, headers }) => status > 300 && status < 309 && !`${headers.location}`.endsWith(`${redirectPage}/`),
    ),
  };
}

/** The settings as text to paste, and as run.sh's file of NAME=value. */
export function settingsFile(
  { settings, remarks }: Found,
  { BASE_URL, PROFILE }: Env,
): { readable: string; file: string } {
  const shown = Object.entries({ ...(PROFILE ? { PROFILE } : {}), ...(BASE_URL ? { BASE_URL } : {}), ...settings });
  const words = shown.map(
    ([name, value]) => `${name}=${/^[\w/.,:@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`,
  );
  const notes = remarks.map((remark) => `  ${remark}\n`).join("");
  const file = Object.entries(settings).map(([name, value]) => `${name}=${value.replace(/\s+/g, " ")}\n`);
  return { readable: `  settings: ${words.join(" ")}\n${notes}`, file: file.join("") };
}
