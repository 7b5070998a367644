// Takes an app's image through the contract of docs/your-app.md: deploy/checks/host/check-app.sh, whose findings come by standard input.
import { text } from "node:stream/consumers";
import { csp, forbidsTunnel, served } from "../outside/site.ts";
import { failed, finish, ok, type Result, report, skipped, warning } from "../result.ts";
import { readSections } from "../sections.ts";
import { composeServices, type Inspected, list } from "./facts.ts";

interface Build {
  basePath: string;
  output: string;
  deploymentId: string;
  env: Record<string, string>;
  /** The largest body that reaches a page behind middleware; the second is the name of Next 15. */
  experimental?: {
    proxyClientMaxBodySize?: number | string;
    middlewareClientMaxBodySize?: number | string;
    serverActions?: { bodySizeLimit?: number | string };
  };
}

/**
 * What app-requests.ts found. Statuses are 0 without an answer; `file` is one of the build's that the page names, `unreachable` the response
 * headers that name the address where Next listens.
 */
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
    health: container?.State.Health?.Log?.at(-1)?.Output.trim() ?? "",
    requests: json("requests", none),
    build: json<{ config: Build } | undefined>("build", undefined)?.config,
    nextVersion: json<{ version?: string }>("next", {}).version ?? "",
    hasMiddleware: Object.keys({ ...middleware }).length > 0 || "/_middleware" in { ...functions },
    /** What the code has, by the names that check-app.sh gives, and the DSNs in the browser's code. */
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
  const own = "write to /tmp, or add a folder or size to tmpfs in docker-compose.override.yml";
  const keeps = 'CMD ["node", "server.js"], not npm or a shell, which keep the signal';
  const killed = failed("stop", "ignores SIGTERM: killed after 20 s", keeps);
  const ended = stopExitCode === 137 ? killed : ok("stop", "exits after SIGTERM");
  return [
    /^(?:|root|0)(?::|$)/.test(user) ? failed("user", "root", "USER 1000:1000 in the Dockerfile") : ok("user", user),
    line
      ? failed("files", line.trim(), line.includes("/.next/server/") ? next : own)
      : ok("files", "no write error in the log"),
    isRunning ? ended : skipped("stop", "not tried: the app does not run"),
  ];
}

function build({ build, requests, nextVersion, mentions, settings }: AppFacts): Result[] {
  if (!build) {
    const fix = 'output: "standalone", copied to /app';
    return [warning("build", "no .next/required-server-files.json in /app: not Next.js, or elsewhere", fix)];
  }
  const { file, fileStatus, path } = requests;
  const [own, wanted = ""] = [build.basePath, settings.BASE_PATH];
  const copy = "COPY .next/static and public into the image: standalone leaves them out";
  const another = "deploymentId in next.config, another for each build, or build with deploy/app/Dockerfile";
  return [
    Number.parseInt(nextVersion, 10) >= 15
      ? ok("next", nextVersion)
      : warning("next", nextVersion || "version unknown", "tested are 15 and 16"),
    build.output === "standalone" && mentions.includes("server.js")
      ? ok("build", "standalone")
      : failed("build", "not standalone, or no /app/server.js", 'output: "standalone" in next.config'),
    !file
      ? warning("static files", `${path} names none`, "PAGE=/path tries another page")
      : fileStatus === 200
        ? ok("static files", "there")
        : failed("static files", `${file} answers ${fileStatus}`, copy),
    own === wanted
      ? ok("base path", own || "none")
      : failed("base path", `the app has '${own}', BASE_PATH is '${wanted}'`, `BASE_PATH=${own}`),
    build.deploymentId
      ? ok("deploymentId", build.deploymentId)
      : warning("deploymentId", "none: open pages do not notice a release", another),
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
  const own = "make a path, or take the origin from x-forwarded-proto and x-forwarded-host";
  const local = "fetch http://localhost:3000 and the path: request.nextUrl.origin is https://0.0.0.0:3000";
  const past = "the server's code does not read SERVER_TUNNEL: they are lost while the ingest is down";
  const rows: [applies: unknown, check: string, found: string, fix: string][] = [
    [hasMiddleware && isCut && settings.MAX_BODY_SIZE !== "10m", "bodies", cut, whole],
    [actions && settings.MAX_BODY_SIZE !== "1m", "server actions", "those with more than 1 MB get 500", large],
    [unreachable, "addresses", `no browser can reach what this names: ${unreachable}`, own],
    [mentions.includes("fetch of nextUrl"), "addresses", "code fetches from request.nextUrl", local],
    [mentions.includes("nextUrl.origin"), "addresses", "code reads request.nextUrl.origin", own],
    [!mentions.includes("SERVER_TUNNEL"), "server events", past, "tunnel: process.env.SERVER_TUNNEL"],
  ];
  return rows.flatMap(([applies, ...row]) => (applies ? [warning(...row)] : []));
}

function browserEvents({ build, mentions, requests, settings }: AppFacts): Result {
  const check = "browser events";
  const path = settings.TUNNEL_PATH || "/monitoring";
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

/** Checks that the project of each DSN in the browser's code is configured: the proxy rejects envelopes of others. */
function dsns({ build, dsns, mentions, settings }: AppFacts): Result[] {
  const isRoute = Boolean(build?.env?._sentryRewritesTunnelPath);
  // With `tunnel` to a path, the proxy replaces the DSN.
  if (!isRoute && !mentions.includes("tunnel: true")) return [];
  const name = (dsn: string) => {
    const { hostname, pathname } = new URL(dsn);
    return `project ${pathname.split("/").at(-1)} at ${hostname}`;
  };
  const configured = [...list(settings.SENTRY_DSN), ...list(settings.TUNNEL_ALLOWED_DSNS)].map(name);
  return dsns.map((dsn) => {
    const self = "is not of sentry.io: tunnelRoute does not tunnel it";
    if (isRoute && !/\.sentry\.io$/.test(new URL(dsn).hostname))
      return failed("dsn", `${name(dsn)} ${self}`, "tunnel instead of tunnelRoute");
    if (configured.includes(name(dsn))) return ok("dsn", `${name(dsn)}, as configured`);
    return failed("dsn", `${name(dsn)} is not configured`, "make it SENTRY_DSN, or add it to TUNNEL_ALLOWED_DSNS");
  });
}

function policy({ requests: { policy, html }, settings }: AppFacts): Result[] {
  const [name = "localhost"] = list(settings.SERVER_NAME);
  const tunnelPath = settings.TUNNEL_PATH || "/monitoring";
  const directive = forbidsTunnel(policy, html, { name, publicPort: Number(settings.HTTPS_PORT || 8443), tunnelPath });
  return directive ? [csp(warning, directive)] : [];
}

/** Takes what is known about an app and returns the contract, row by row. */
export const contract = (facts: AppFacts): Result[] =>
  [answers, container, build, guesses, browserEvents, dsns, policy].flatMap((check) => check(facts));

if (import.meta.main) {
  report(contract(parse(await text(process.stdin))));
  finish();
}
