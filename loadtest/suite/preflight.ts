import { probe } from "../lib/client.ts";
import { newContext } from "../lib/context.ts";
import { foreignProject } from "../lib/dsn.ts";
import { metas } from "../lib/html.ts";
import { isLocal, OptionError, type Options } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import type { Request, Response } from "../lib/request.ts";
import { describeResponse, redirectWithin } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";
import { readPlan } from "./plan.ts";

const UNREACHABLE: [RegExp, string][] = [
  [/no such host|lookup|ENOTFOUND/, "host not found: check the name"],
  [/x509|certificate/, "its certificate is not trusted: set SSL_CERT_FILE to its CA"],
  [/refused/, "connection refused: is the stack up, is the port right?"],
  [/HTTPS|tls|malformed/i, "not TLS, or the wrong port"],
];

/**
 * Checks the response for one of the pages before the run; returns the problem in one line, empty if there is none.
 *
 * A typing error is thus reported in one line instead of ten thousand failed requests.
 */
export function targetProblem(options: Options, page: string, on: Response): string {
  const target = `BASE_URL ${options.baseUrl}`;
  if (on.status === 0) {
    const [, known = `no response (${on.error})`] = UNREACHABLE.find(([pattern]) => pattern.test(on.error)) ?? [];
    return `${target}: ${known}`;
  }
  if (on.status !== 200)
    return `${target}: ${page} responds ${describeResponse(on)}, not 200: set PAGES to pages that exist`;
  if (options.trace && pageTrace(on.body).trace === undefined)
    return `${target}: ${page} has no sentry-trace meta: name other PAGES, or set TRACE=off for an app without Sentry's tracing`;
  return "";
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
  try {
    // run.sh replaces a port by the reader's address later.
    const open = {
      INGEST: "",
      // k6 opens files while a script loads only, and the run reads them then.
      ...{ LIMITS: "", BASELINE: "" },
      SENTRY_DSN: env.SENTRY_DSN || "http://unknown@ingest/1",
    };
    const profile = env.PROFILE === "preflight" ? "smoke" : (env.PROFILE ?? "smoke");
    return await detectWith(readPlan(profile, { ...env, ...open }).options, env);
  } catch (error) {
    if (error instanceof OptionError) return { settings: {}, remarks: [], problem: error.message };
    throw error;
  }
}

async function detectWith(options: Options, env: Env): Promise<Found> {
  const get: Get = (request) => probe(options, { ...request, kind: "page" });
  const pages = await Promise.all(options.pages.map((path) => findPage(path, options, get)));
  for (const { path, on } of pages) {
    const problem = targetProblem({ ...options, trace: false }, path, on);
    if (problem) throw new OptionError(problem);
  }
  const traced = pages.filter(({ on }) => pageTrace(on.body).trace).map(({ path }) => path);
  const found = pages.map(({ path }) => path);
  const untraced = found.filter((path) => !traced.includes(path)).join(", ");
  const html = pages.map(({ on }) => on.body).join("\n");
  const isApp = html.includes("self.__next_f");
  const form = pages.find(({ on }) => on.body.includes('name="$ACTION_'))?.path;
  const { tunnel, ...telemetry } = await findTunnel(env, options, get);
  const missing = await get({ path: `/no-such-page-${randomHex(6)}` });
  const inMeta = /noindex/.test(metas(missing.body, "robots").join());
  const settings = {
    TRACE: traced.length > 0 ? "on" : "off",
    ROUTER: isApp ? "app" : "pages",
    // Behind Culvert's proxy the header must be there, whatever the app's own markup says.
    NOINDEX: tunnel || missing.headers["x-robots-tag"] !== undefined ? "header" : inMeta ? "meta" : "off",
    ...(await findExamplePages(options, get)),
    ...telemetry,
  };
  const open = Object.entries(settings).filter(([name]) => !env[name]);
  return {
    settings: { PAGES: (traced.length > 0 ? traced : found).join(","), ...Object.fromEntries(open) },
    remarks: [
      isApp || html.includes("__NEXT_DATA__") ? "" : "the pages are not Next's: no component payload is tested",
      untraced && `without a sentry-trace meta: ${untraced}`,
      form && !env.ACTION_PAGE ? `${form} has a server action: test it with ACTION_PAGE=${form} ACTION_EXPECT=…` : "",
    ].filter(Boolean),
  };
}

/** The page at a path, or the one to which it redirects: `/` may lead to a language. */
async function findPage(path: string, { baseUrl }: Options, get: Get) {
  const on = await get({ path });
  const to = redirectWithin(baseUrl, on);
  return to ? { path: to, on: await get({ path: to }) } : { path, on };
}

/** An app with @culvert/nextjs says where its tunnel is (web/telemetry/settings/browser-settings.ts); any other tunnel of Culvert rejects a foreign project with 403. */
async function findTunnel(env: Env, { tunnelPath, baseUrl, dsn: given }: Options, get: Get) {
  const { headers } = await get({ path: "/", headers: { accept: "text/html" } });
  const [, own = ""] = /\bculvert;desc="([^"]*)"/.exec(headers["server-timing"] ?? "") ?? [];
  const field = (name: string) => decodeURIComponent(new RegExp(`(?:^|&)${name}=([^&]*)`).exec(own)?.[1] ?? "");
  const path = env.TUNNEL_PATH ? tunnelPath : field("tunnel") || tunnelPath;
  const query = `?o=1&p=${foreignProject(given)}`;
  const rejects = path !== "" && (await get({ method: "POST", path: path + query, body: "{}" })).status === 403;
  const dsn = env.SENTRY_DSN || field("dsn") || (isLocal(baseUrl) ? "http://culvert@ingest:8969/1" : "");
  const tunnel = dsn !== "" && (rejects || Boolean(env.TUNNEL_PATH));
  const settings: Record<string, string> = tunnel ? { TUNNEL_PATH: path, SENTRY_DSN: dsn } : { TUNNEL_PATH: "off" };
  return { tunnel, ...settings };
}

/** The pages that only the example app has. */
async function findExamplePages(
  { baseUrl, tracePage, echoPath, actionPage, redirectPage, redirectTo }: Options,
  get: Get,
): Promise<Record<string, string>> {
  const { headers } = newContext("preflight");
  const of = async (path: string, holds: (on: Response) => boolean) =>
    path && holds(await get({ path, headers })) ? path : "off";
  const page = (path: string, text: RegExp) => of(path, ({ status, body }) => status === 200 && text.test(body));
  return {
    TRACE_PAGE: await page(tracePage, /<dt[^>]*>sentry-trace/),
    ECHO_PATH: await page(echoPath, /^\{.*sentry-trace/s),
    ACTION_PAGE: await page(actionPage, /name="\$ACTION_/),
    // Not that of an app which redirects every path.
    REDIRECT_PAGE: await of(redirectPage, (on) => redirectWithin(baseUrl, on) === redirectTo),
  };
}

/** The settings as text to paste, and as run.sh's file of NAME=value. */
export function settingsFile({ settings, remarks }: Found, { BASE_URL, PROFILE }: Env) {
  const shown = Object.entries({ PROFILE, BASE_URL, ...settings }).filter(([, value]) => value);
  const words = shown.map(
    ([name, value = ""]) => `${name}=${/^[\w/.,:@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`,
  );
  const file = Object.entries(settings).map(([name, value]) => `${name}=${value.replace(/\s+/g, " ")}\n`);
  const readable = [`settings: ${words.join(" ")}`, ...remarks].map((line) => `  ${line}\n`).join("");
  return { readable, file: file.join("") };
}
