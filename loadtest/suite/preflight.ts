import { probe } from "../lib/client.ts";
import { defaults } from "../lib/defaults.ts";
import { all, assets, metas, textOf } from "../lib/html.ts";
import { type Env, isLocal, MORE, type Options, TESTED } from "../lib/options.ts";
import { randomHex } from "../lib/random.ts";
import type { Request, Response } from "../lib/request.ts";
import { isStrict, redirectWithin, securityHeaders } from "../lib/responses.ts";
import { ownSettings } from "../lib/settings.ts";
import { pageTrace } from "../lib/trace.ts";
import { readPlan } from "./plan.ts";
import { probeTarget, probeTunnel } from "./target.ts";

type Settings = Record<string, string>;
type Get = (request: Omit<Request, "kind">) => Promise<Response>;

const example = (base: string): Settings => ({
  TRACE: "on",
  ROUTER: "app",
  NOINDEX: "header",
  EXPECT_TEXT: `${base || "/"}=What is running,${base}/trace=The trace of this page view,${base}/test-events=Test events`,
  EXPECT_HEADERS: [
    "content-encoding",
    "content-security-policy",
    `${base}/test-events:content-security-policy~nonce-`,
    "x-content-type-options=nosniff",
    "referrer-policy",
    "permissions-policy",
  ].join(","),
  TRACE_PAGE: `${base}/trace`,
  ECHO_PATH: `${base}/api/echo`,
  ACTION_PAGE: `${base}/test-events`,
  ACTION_FORM: "Call the upstream",
  ACTION_EXPECT: "received trace {trace}",
  REDIRECT_PAGE: `${base}/test-events/redirect`,
  REDIRECT_STATUS: "307",
  REDIRECT_TO: `${base}/trace`,
});

/**
 * Returns the file that the run reads: what the environment or TARGET declares and, without TARGET, what the target shows. Stores nothing.
 * Throws what stops a run.
 */
export async function preflight(env: Env): Promise<string> {
  const profile = env.PROFILE === "preflight" ? "smoke" : env.PROFILE || "smoke";
  // run.sh replaces a port by the reader's address later.
  const read = (more: Env) => readPlan(profile, { ...env, INGEST: "", ...more }).options;
  const TUNNEL_PATH = env.TUNNEL_PATH || defaults.TUNNEL_PATH;
  const options = read({ JOURNEYS: "", TUNNEL_PATH, SENTRY_DSN: env.SENTRY_DSN || "http://unknown@ingest/1" });
  const seen = env.TARGET ? {} : await see(env, options);
  const names = [...Object.keys(TESTED), ...MORE];
  const given = names.flatMap((name) => {
    const value = env[name]?.trim() || seen[name];
    return value && (name !== "BROWSER" || value === "off") ? [[name, value]] : [];
  });
  await probeTarget(read(Object.fromEntries(given.filter(([name]) => name !== "INGEST"))));
  const open = Object.keys(TESTED).filter((name) => !given.some(([setting]) => setting === name));
  return [
    "# What the target has, for TARGET=<this file>. Correct it, and commit it.",
    ...given.map(([name, value = ""]) => `${name}=${value.replace(/\s+/g, " ")}`),
    ...(open.length > 0 ? ["# Neither declared nor seen. Say where it is, or off if the target has none:"] : []),
    ...open.map((name) => `# ${TESTED[name]}\n#${name}=${seen[`#${name}`] || "off"}`),
    "",
  ].join("\n");
}

async function see(env: Env, options: Options): Promise<Settings> {
  const get: Get = (request) => probe(options, { ...request, kind: "page" });
  const pages = await Promise.all(options.pages.map((path) => findPage(path, options, get)));
  const [first] = pages;
  // The tunnel alone, of Culvert.
  if (!first) return { COMPRESSED: "on", ...(await findTunnel(env, options, {})) };
  const settings = ownSettings(first.on);
  const tunnel = await findTunnel(env, options, settings);
  const PAGES = pages.map(({ path }) => path).join(",");
  if (settings.tunnel && /<title>(?:[^<]* )?Culvert<\/title>/.test(first.on.body)) {
    const base = /^(\/.+)\/_next\//.exec(assets(first.on.body)[0] ?? "")?.[1] ?? "";
    return { ...example(base), ...tunnel, PAGES };
  }
  const html = pages.map(({ on }) => on.body);
  const has = (text: string) => html.some((body) => body.includes(text));
  const missing = await get({ path: `/no-such-page-${randomHex(6)}` });
  const inMeta = /noindex/.test(metas(missing.body, "robots").join());
  const policies = Object.entries(securityHeaders(first.on)).filter(([, value]) => isStrict(value));
  return {
    PAGES,
    TRACE: pages.some(({ on }) => pageTrace(on).trace) ? "on" : "",
    ROUTER: has("self.__next_f") ? "app" : has("__NEXT_DATA__") ? "pages" : "",
    NOINDEX: missing.headers["x-robots-tag"] !== undefined ? "header" : inMeta ? "meta" : "",
    EXPECT_TEXT: (await Promise.all(pages.map(({ path, on }) => findHeading(path, on, get)))).filter(Boolean).join(","),
    EXPECT_HEADERS: [
      ...policies.map(([name, value]) => (/'nonce'/.test(value) ? `${name}~nonce-` : name)),
      ...(first.on.headers["content-encoding"] ? ["content-encoding"] : []),
    ].join(","),
    // Only proposed: an unknown action may do anything.
    "#ACTION_PAGE": pages.find(({ on }) => on.body.includes('name="$ACTION_'))?.path ?? "",
    ...tunnel,
  };
}

/** The page at a path, or the one to which it redirects, such as a language. */
async function findPage(path: string, { baseUrl }: Options, get: Get) {
  const on = await get({ path });
  const to = redirectWithin(baseUrl, on);
  return to ? { path: to, on: await get({ path: to }) } : { path, on };
}

/** A page's heading, if a second request gets it, too. */
async function findHeading(path: string, on: Response, get: Get): Promise<string> {
  const heading = ({ body }: Response) => textOf(all(body, "h1")[0]?.text() ?? "").replace(/,.*/, "");
  const [text, again] = [heading(on), heading(await get({ path }))];
  return text !== "" && text === again ? `${path}=${text}` : "";
}

/** The tunnel that @culvert/nextjs names; else the usual path, if it answers with no page and no 404. */
async function findTunnel(env: Env, options: Options, settings: Settings): Promise<Settings> {
  const { baseUrl, dsn } = options;
  const SENTRY_DSN = env.SENTRY_DSN || settings.dsn || "";
  const isKnown = SENTRY_DSN !== "" || isLocal(baseUrl);
  const named = settings.tunnel ?? "";
  if (named) return { TUNNEL_PATH: isKnown ? named : "", SENTRY_DSN, COMPRESSED: "on", SERVER_TIMING: "on" };
  if (env.TUNNEL_PATH || !isKnown) return { SENTRY_DSN };
  const { status, headers } = await probeTunnel(options, defaults.TUNNEL_PATH, dsn);
  const answers = status === 403 || status >= 500 || (status === 200 && !/html/.test(headers["content-type"] ?? ""));
  return { TUNNEL_PATH: answers ? defaults.TUNNEL_PATH : "", SENTRY_DSN };
}
