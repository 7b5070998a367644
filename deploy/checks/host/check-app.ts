// Checks what check-app.sh has found of an app's image.
import { text } from "node:stream/consumers";
import { defaults } from "../defaults.ts";
import { ingestName } from "../ingest.ts";
import { csp, forbidsTunnel, served } from "../outside/site.ts";
import { failed, finish, ok, type Result, report, rule, skipped, warning } from "../result.ts";
import { readSections } from "../sections.ts";
import { composeServices, type Inspected, list } from "./facts.ts";

interface Build {
  basePath: string;
  output: string;
  deploymentId: string;
  env: Record<string, string>;
  /** The largest body behind middleware, by its name in Next 16 and 15. */
  experimental?: {
    proxyClientMaxBodySize?: number | string;
    middlewareClientMaxBodySize?: number | string;
    serverActions?: { bodySizeLimit?: number | string };
  };
}

/** What app-requests.ts found. `file` is one that the page names, `unreachable` the headers that name where Next listens. 0: no answer. */
export type Requests = Record<"path" | "policy" | "html" | "file" | "unreachable", string> &
  Record<"status" | "fileStatus", number>;

function parse(input: string) {
  const { lines, json } = readSections(input);
  const settings = Object.values(composeServices(lines("config"))).flatMap(({ environment = {} }) =>
    Object.entries(environment),
  );
  const [container] = json<Inspected[]>("container", []);
  const { middleware } = json<{ middleware?: object }>("middleware", {});
  // Middleware in Next's Node.js runtime.
  const { functions } = json<{ functions?: object }>("functions", {});
  const none: Requests = { path: "/", status: 0, policy: "", html: "", file: "", fileStatus: 0, unreachable: "" };
  return {
    settings: Object.fromEntries(settings.map(([name, value]) => [name, value ?? ""])),
    user: container?.Config.User ?? "",
    isRunning: container?.State.Status === "running",
    isHealthy: container?.State.Health?.Status === "healthy",
    problem: lines("problem").at(-1) ?? "",
    // Without its code.
    health: container?.State.Health?.Log?.at(-1)?.Output.trim().replace(/^\S+ /, "") ?? "",
    requests: json("requests", none),
    build: json<{ config: Build } | undefined>("build", undefined)?.config,
    nextVersion: json<{ version?: string }>("next", {}).version ?? "",
    hasMiddleware: Object.keys({ ...middleware }).length > 0 || "/_middleware" in { ...functions },
    /** What the code has, by the names of check-app.sh. */
    mentions: lines("mentions"),
    dsns: lines("dsns"),
    log: lines("log"),
    stopExitCode: Number(lines("stop")[0]),
  };
}
export type AppFacts = ReturnType<typeof parse>;

const answers = ({ isHealthy, problem, health, requests: { path, status } }: AppFacts): Result[] =>
  isHealthy
    ? [ok("health", health), served(path, status, "read the app's log: a setting may be missing")]
    : [failed("health", `the app does not get healthy: ${problem}`, '"Health" in docs/your-app.md')];

function container({ user, log, isRunning, stopExitCode }: AppFacts): Result[] {
  const line = log.find((text) => /\b(?:EROFS|EACCES|ENOSPC)\b/.test(text));
  const next = "update Next (15.5.28, 16.3.8), or experimental: { isrFlushToDisk: false }";
  const folder = "write to /tmp, or add a folder or size to tmpfs in docker-compose.override.yml";
  const keeps = 'CMD ["node", "server.js"], not npm or a shell, which keep the signal';
  return [
    rule("user", !/^(?:|root|0)(?::|$)/.test(user), user, "root", "USER 1000:1000 in the Dockerfile"),
    line
      ? failed("files", line.trim(), line.includes("/.next/server/") ? next : folder)
      : ok("files", "no write error in the log"),
    isRunning
      ? rule("stop", stopExitCode !== 137, "exits after SIGTERM", "ignores SIGTERM: killed after 20 s", keeps)
      : skipped("stop", "not tried: the app does not run"),
  ];
}

function build({ build, requests, nextVersion, mentions, settings }: AppFacts): Result[] {
  if (!build) {
    const fix = 'output: "standalone", copied to /app';
    return [warning("build", "no .next/required-server-files.json in /app: not Next.js, or elsewhere", fix)];
  }
  const { file, fileStatus, path } = requests;
  const { basePath, deploymentId } = build;
  const { BASE_PATH = "" } = settings;
  const isStandalone = build.output === "standalone" && mentions.includes("server.js");
  const another = `the app has '${basePath}', BASE_PATH is '${BASE_PATH}'`;
  const copy = "COPY .next/static and public into the image: standalone leaves them out";
  const standalone = 'output: "standalone" in next.config';
  const unnoticed = "none: open pages do not notice a release";
  const id = "deploymentId in next.config, another for each build, or build with deploy/app/Dockerfile";
  const version = nextVersion || "version unknown";
  return [
    rule("next", Number.parseInt(nextVersion, 10) >= 15, version, version, "tested are 15 and 16", warning),
    rule("build", isStandalone, "standalone", "not standalone, or no /app/server.js", standalone),
    file
      ? rule("static files", fileStatus === 200, "there", `${file} answers ${fileStatus}`, copy)
      : warning("static files", `${path} names none`, "PAGE=/path tries another page"),
    rule("base path", basePath === BASE_PATH, basePath || "none", another, `BASE_PATH=${basePath}`),
    rule("deploymentId", Boolean(deploymentId), deploymentId, unnoticed, id, warning),
  ];
}

function guesses({ build, hasMiddleware, settings, mentions, requests: { unreachable } }: AppFacts): Result[] {
  const { proxyClientMaxBodySize, middlewareClientMaxBodySize, serverActions } = build?.experimental ?? {};
  const name = proxyClientMaxBodySize ? "proxyClientMaxBodySize" : "middlewareClientMaxBodySize";
  const isCut = (proxyClientMaxBodySize ?? middlewareClientMaxBodySize) === 10 * 1024 ** 2;
  const actions = mentions.includes("server actions") && !serverActions?.bodySizeLimit;
  const cut = "behind middleware, Next cuts those above 10 MB without an error";
  const whole = `experimental: { ${name}: "100mb" } in next.config, or MAX_BODY_SIZE=10m`;
  const large = 'experimental: { serverActions: { bodySizeLimit: "100mb" } } in next.config, if a form uploads files';
  const relative = "make a path, or take the origin from x-forwarded-proto and x-forwarded-host";
  const local = "fetch http://localhost:3000 and the path: request.nextUrl.origin is https://0.0.0.0:3000";
  const past = "the server's code does not read SERVER_TUNNEL: they are lost while the ingest is down";
  const rows: [applies: unknown, check: string, found: string, fix: string][] = [
    [hasMiddleware && isCut && settings.MAX_BODY_SIZE !== "10m", "bodies", cut, whole],
    [actions && settings.MAX_BODY_SIZE !== "1m", "server actions", "those with more than 1 MB get 500", large],
    [unreachable, "addresses", `no browser can reach what this names: ${unreachable}`, relative],
    [mentions.includes("fetch of nextUrl"), "addresses", "code fetches from request.nextUrl", local],
    [mentions.includes("nextUrl.origin"), "addresses", "code reads request.nextUrl.origin", relative],
    [!mentions.includes("SERVER_TUNNEL"), "server events", past, "tunnel: process.env.SERVER_TUNNEL"],
  ];
  return rows.flatMap(([applies, ...row]) => (applies ? [warning(...row)] : []));
}

function browserEvents({ build, mentions, requests, settings }: AppFacts): Result {
  const check = "browser events";
  const path = settings.TUNNEL_PATH || defaults.TUNNEL_PATH;
  const route = build?.env?._sentryRewritesTunnelPath;
  if (route && ![path, `${settings.BASE_PATH ?? ""}${path}`].includes(route)) {
    const fix = `TUNNEL_PATH=${route}; with tunnelRoute: true it changes with every build: name a path`;
    return failed(check, `tunnelRoute is "${route}", TUNNEL_PATH "${path}"`, fix);
  }
  if (route) return ok(check, `tunnelRoute: "${route}"`);
  // Set at run time, it is in the page: within JSON in a string.
  const isInPage = requests.html.replaceAll("\\", "").includes(`"${path}"`);
  if (mentions.includes("tunnel path") || isInPage) return ok(check, `tunnel: "${path}"`);
  if (mentions.includes("tunnel: true")) return ok(check, "tunnel: true");
  return warning(check, "no sign of the tunnel in the browser's code", `tunnel: "${path}" in instrumentation-client`);
}

/** Checks that each DSN in the browser's code is configured: the proxy rejects others. */
function dsns({ build, dsns, mentions, settings }: AppFacts): Result[] {
  const isRoute = Boolean(build?.env?._sentryRewritesTunnelPath);
  // With `tunnel` to a path, the proxy replaces the DSN.
  if (!isRoute && !mentions.includes("tunnel: true")) return [];
  const configured = [...list(settings.SENTRY_DSN), ...list(settings.TUNNEL_ALLOWED_DSNS)].map(ingestName);
  return dsns.map((dsn) => {
    const name = ingestName(dsn);
    if (isRoute && !/\.sentry\.io$/.test(new URL(dsn).hostname)) {
      const found = `${name} is not of sentry.io: tunnelRoute does not tunnel it`;
      return failed("dsn", found, "tunnel instead of tunnelRoute");
    }
    const fix = "make it SENTRY_DSN, or add it to TUNNEL_ALLOWED_DSNS";
    return rule("dsn", configured.includes(name), `${name}, as configured`, `${name} is not configured`, fix);
  });
}

function policy({ requests: { policy, html }, settings }: AppFacts): Result[] {
  const [name = defaults.SERVER_NAME] = list(settings.SERVER_NAME);
  const tunnelPath = settings.TUNNEL_PATH || defaults.TUNNEL_PATH;
  const publicPort = Number(settings.HTTPS_PORT || defaults.HTTPS_PORT);
  const directive = forbidsTunnel(policy, html, { name, publicPort, tunnelPath });
  return directive ? [csp(warning, directive)] : [];
}

/** Returns the rows of the contract of docs/your-app.md. */
export const contract = (facts: AppFacts): Result[] =>
  [answers, container, build, guesses, browserEvents, dsns, policy].flatMap((check) => check(facts));

if (import.meta.main) {
  report(contract(parse(await text(process.stdin))));
  finish();
}
