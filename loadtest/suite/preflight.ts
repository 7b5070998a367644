import { probe } from "../lib/client.ts";
import { foreignProject } from "../lib/dsn.ts";
import { all, assets, metas, textOf } from "../lib/html.ts";
import { isLocal, LOCAL_DSN, OptionError, type Options } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import type { Request, Response } from "../lib/request.ts";
import { redirectWithin, securityHeaders } from "../lib/responses.ts";
import { pageTrace } from "../lib/trace.ts";
import { readPlan } from "./plan.ts";
import { probeTarget } from "./target.ts";

/** What a target may have, in the summary's words. What is neither declared nor seen is not verified. */
export const TESTED = {
  TRACE: "traces",
  ROUTER: "component payloads",
  NOINDEX: "noindex of a 404",
  EXPECT_TEXT: "texts of pages",
  EXPECT_HEADERS: "security headers",
  TRACE_PAGE: "outgoing traces",
  ECHO_PATH: "forwarded headers",
  ACTION_PAGE: "actions",
  REDIRECT_PAGE: "redirects",
  TUNNEL_PATH: "tunnel",
};

type Env = Record<string, string | undefined>;
type Settings = { [name in keyof typeof TESTED]?: string } & Record<string, string>;
type Get = (request: Omit<Request, "kind">) => Promise<Response>;

/** What the preflight found: settings that nobody declared, and what stops a run. */
export interface Found {
  settings: Settings;
  /** A page with a server action's form that nobody declared. */
  action?: string;
  problem?: string;
}

/** Culvert's example app, wherever it runs: what it has is known. */
const example = (base: string): Settings => ({
  ...{ TRACE: "on", ROUTER: "app", NOINDEX: "header" },
  EXPECT_TEXT: `${base || "/"}=This deployment is up,${base}/trace=The trace of this page view,${base}/test-events=Test events`,
  EXPECT_HEADERS: "content-security-policy,x-content-type-options,referrer-policy,permissions-policy",
  ...{ TRACE_PAGE: `${base}/trace`, ECHO_PATH: `${base}/api/echo`, ACTION_PAGE: `${base}/test-events` },
  ...{ REDIRECT_PAGE: `${base}/test-events/redirect`, REDIRECT_STATUS: "307" },
});

/**
 * Completes the settings. What the environment or a TARGET file declares stays. Without such a file, what the target shows is added, with
 * a dozen requests of which none changes or stores anything. A broken answer is no missing one: it stays, for the run to report.
 */
export async function detect(env: Env): Promise<Found> {
  try {
    // run.sh replaces a port by the reader's address later; k6 opens files while a script loads only, and the run reads them then.
    const later = { INGEST: "", LIMITS: "", BASELINE: "", SENTRY_DSN: env.SENTRY_DSN || "http://unknown@ingest/1" };
    const profile = env.PROFILE === "preflight" ? "smoke" : (env.PROFILE ?? "smoke");
    const read = (more: Env) => readPlan(profile, { ...env, ...later, ...more }).options;
    const options = read({});
    const local: Settings = isLocal(options.baseUrl) ? { SENTRY_DSN: LOCAL_DSN } : {};
    const settings = env.TARGET ? local : await see(env, options);
    const isOpen = ([name, value]: [string, string]) => !env[name] && value !== "" && !name.startsWith("#");
    const all: Settings = Object.fromEntries(Object.entries(settings as Record<string, string>).filter(isOpen));
    const unknown = Object.keys(TESTED).filter((name) => !env[name] && !all[name]);
    for (const name of unknown) all[name] = name === "ROUTER" ? "pages" : "off";
    if (unknown.length > 0) all.NOT_DECLARED = unknown.join(",");
    return { settings: all, action: settings["#ACTION_PAGE"], problem: (await probeTarget(read(all))).problem };
  } catch (error) {
    if (error instanceof OptionError) return { settings: {}, problem: error.message };
    throw error;
  }
}

/** What the target shows of itself. */
async function see(env: Env, options: Options): Promise<Settings> {
  const get: Get = (request) => probe(options, { ...request, kind: "page" });
  const pages = await Promise.all(options.pages.map((path) => findPage(path, options, get)));
  const [first] = pages;
  if (!first) return {};
  const own = ownSettings(first.on);
  const tunnel = await findTunnel(env, options, own, get);
  const PAGES = pages.map(({ path }) => path).join(",");
  if (own("tunnel") && /<title>(?:[^<]* )?Culvert<\/title>/.test(first.on.body)) {
    const base = /^(\/.+)\/_next\//.exec(assets(first.on.body)[0] ?? "")?.[1] ?? "";
    return { ...example(base), ...tunnel, PAGES };
  }
  const html = pages.map(({ on }) => on.body);
  const has = (text: string) => html.some((one) => one.includes(text));
  const missing = await get({ path: `/no-such-page-${randomHex(6)}` });
  const inMeta = /noindex/.test(metas(missing.body, "robots").join());
  return {
    PAGES,
    TRACE: html.some((one) => pageTrace(one).trace) ? "on" : "",
    ROUTER: has("self.__next_f") ? "app" : has("__NEXT_DATA__") ? "pages" : "",
    NOINDEX: missing.headers["x-robots-tag"] !== undefined ? "header" : inMeta ? "meta" : "",
    EXPECT_TEXT: (await Promise.all(pages.map(({ path, on }) => findHeading(path, on, get)))).filter(Boolean).join(","),
    EXPECT_HEADERS: Object.keys(securityHeaders(first.on)).join(","),
    // Only proposed: an action of an app that we do not know may do anything.
    "#ACTION_PAGE": pages.find(({ on }) => on.body.includes('name="$ACTION_'))?.path ?? "",
    ...tunnel,
  };
}

/** The page at a path, or the one to which it redirects: `/` may lead to a language. */
async function findPage(path: string, { baseUrl }: Options, get: Get) {
  const on = await get({ path, headers: { accept: "text/html" } });
  const to = redirectWithin(baseUrl, on);
  return to ? { path: to, on: await get({ path: to }) } : { path, on };
}

/** A page's heading, if a second request gets the same one. A setting has no room for commas. */
async function findHeading(path: string, on: Response, get: Get): Promise<string> {
  const heading = ({ body }: Response) => textOf(all(body, "h1")[0]?.text() ?? "").replace(/,.*/, "");
  const [text, again] = [heading(on), heading(await get({ path }))];
  return text !== "" && text === again ? `${path}=${text}` : "";
}

/** What an app with @culvert/nextjs says of itself: web/telemetry/settings/browser-settings.ts */
function ownSettings({ headers }: Response) {
  const [, own = ""] = /\bculvert;desc="([^"]*)"/.exec(headers["server-timing"] ?? "") ?? [];
  return (name: string) => decodeURIComponent(new RegExp(`(?:^|&)${name}=([^&]*)`).exec(own)?.[1] ?? "");
}

/** An app with @culvert/nextjs has the tunnel that it names. Of any other one, what answers an envelope for a foreign project, unless with a page or 404. */
async function findTunnel(env: Env, options: Options, own: (name: string) => string, get: Get): Promise<Settings> {
  const { baseUrl, tunnelPath, dsn } = options;
  const SENTRY_DSN = env.SENTRY_DSN || own("dsn") || (isLocal(baseUrl) ? LOCAL_DSN : "");
  const named = own("tunnel");
  if (named || env.TUNNEL_PATH || SENTRY_DSN === "") return { TUNNEL_PATH: SENTRY_DSN && named, SENTRY_DSN };
  const { status, headers } = await get({
    method: "POST",
    path: `${tunnelPath}?o=1&p=${foreignProject(dsn)}`,
    body: "{}",
  });
  const answers = status === 403 || status >= 500 || (status === 200 && !/html/.test(headers["content-type"] ?? ""));
  return { TUNNEL_PATH: answers ? tunnelPath : "", SENTRY_DSN };
}

/** The settings as lines for people, as run.sh's file of NAME=value, and as a TARGET file to commit. */
export function settingsFiles({ settings, action = "" }: Found, { BASE_URL, PROFILE, TARGET }: Env) {
  const { NOT_DECLARED = "", ...rest } = settings;
  const unknown = NOT_DECLARED.split(",").filter(Boolean) as (keyof typeof TESTED)[];
  const known = Object.entries(rest).filter(([name]) => !unknown.includes(name as never));
  const quoted = (value: string) => (/^[\w/.,:@%+-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);
  const shown = Object.entries({ PROFILE, BASE_URL, TARGET, ...Object.fromEntries(known) });
  const words = shown.flatMap(([name, value]) => (value ? `${name}=${quoted(value)}` : []));
  const line = ([name, value]: [string, string]) => `${name}=${value.replace(/\s+/g, " ")}\n`;
  const undeclared = unknown.map(
    (name) => `# ${TESTED[name]}\n#${name}=${(name === "ACTION_PAGE" && action) || "off"}\n`,
  );
  return {
    readable: `  settings: ${words.join(" ")}\n${unknown.length ? `  neither declared nor seen: ${unknown.join(", ")}\n` : ""}`,
    settings: Object.entries(settings).map(line).join(""),
    target: `# What the target has, for TARGET=<this file>. Correct it, and commit it.\n${known.map(line).join("")}${
      unknown.length
        ? `# Neither declared nor seen. Say where it is, or off if the target has none:\n${undeclared.join("")}`
        : ""
    }`,
  };
}
