import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Of the container's memory limit, after a few requests. */
const MAX_MEMORY = 0.7;

/** Checks that the app gets healthy, and says what its health check was answered. */
export function health({ state, answered, reason }: AppFacts): Result {
  if (state === "running healthy") {
    const status = /: status (\d)(\d\d)$/.exec(answered);
    if (status?.[1] === "3") return ok("health", `${answered}, a redirect, which is not followed`);
    if (status?.[1] === "4")
      return ok("health", `${answered}: any below 500 is healthy, HEALTH_PATH names another path`);
    return ok("health", answered || "healthy");
  }
  if (/exec: "node"/.test(reason))
    return failed(
      "health",
      "there is no node on PATH, which the health check runs",
      "give web a healthcheck of its own in docker-compose.yml",
    );
  return failed(
    "health",
    `the app did not get healthy (${state || "gone"})`,
    reason || "docker run it, and read its log",
  );
}

/** Checks that the app listens where the proxy looks for it. */
export function port({ requests: { loopback, address, path } }: AppFacts): Result {
  if (address >= 500)
    return failed("port", `${path} answers ${address}`, "read the app's log; which settings does it need?");
  if (address > 0) return ok("port", `3000, on all addresses; ${path} answers ${address}`);
  if (loopback > 0) return failed("port", "3000, but on 127.0.0.1 alone", "HOSTNAME=0.0.0.0 in the image");
  return failed("port", "nothing answers on port 3000", "PORT=3000 HOSTNAME=0.0.0.0 in the image");
}

/** Checks that bodies reach a page behind middleware whole: Next cuts them at a size of its own, and answers as if nothing had happened. */
export function bodies({ build, hasMiddleware, settings }: AppFacts): Result[] {
  const { proxyClientMaxBodySize, middlewareClientMaxBodySize } = build?.experimental ?? {};
  const name = proxyClientMaxBodySize === undefined ? "middlewareClientMaxBodySize" : "proxyClientMaxBodySize";
  const own = megabytes(proxyClientMaxBodySize ?? middlewareClientMaxBodySize);
  const accepted = megabytes(settings.MAX_BODY_SIZE || "100m");
  if (!hasMiddleware || own === undefined || accepted === undefined) return [];
  if (own >= accepted) return [ok("bodies", `up to ${accepted} MB, behind middleware as well`)];
  return [
    unknown(
      "bodies",
      `Next cuts those above ${own} MB silently behind middleware; the proxy accepts ${accepted} MB`,
      `experimental: { ${name}: "${accepted}mb" } in next.config, or MAX_BODY_SIZE=${own}m`,
    ),
  ];
}

/** Returns a size of Next or Nginx in MB, rounded down; undefined if it is none. */
function megabytes(size: number | string | undefined): number | undefined {
  const [, count, unit = ""] = /^([\d.]+) *([kmg]?)b?$/i.exec(String(size)) ?? [];
  const bytes = Number(count) * 1024 ** ["", "k", "m", "g"].indexOf(unit.toLowerCase());
  return Number.isNaN(bytes) ? undefined : Math.floor(bytes / 1024 ** 2);
}

/** Checks that the proxy knows of an app's WebSocket. */
export function webSocket({ mentions, settings }: AppFacts): Result[] {
  if (settings.WEBSOCKET_PATH) return [ok("websocket", settings.WEBSOCKET_PATH)];
  if (!mentions.webSocket) return [];
  return [
    unknown(
      "websocket",
      "the browser's code opens one, and WEBSOCKET_PATH is not set",
      "WEBSOCKET_PATH=/its/path, if it is one of this site",
    ),
  ];
}

/** Checks that the image does not run as root. */
export function user({ user }: AppFacts): Result {
  const [name = ""] = user.split(":");
  if (name === "" || name === "root" || name === "0") return failed("user", "root", "USER 1000:1000 in the Dockerfile");
  return ok("user", user);
}

/** Checks that the app did not try to write where it may not, or more than there is room for. */
export function files({ log, memory, workingDirectory }: AppFacts): Result[] {
  const line = log.find((text) => /\b(?:EROFS|EACCES|ENOSPC)\b/.test(text));
  const where = /(?:EROFS|EACCES|ENOSPC)[^']*'([^']*)'/.exec(line ?? "")?.[1];
  const results: Result[] = [];
  if (!line) results.push(ok("files", "the root filesystem is read-only, and there is no write error in the log"));
  else if (line.includes("ENOSPC"))
    results.push(
      failed(
        "files",
        `no space left${where ? ` for ${where}` : ""}`,
        "a larger size in tmpfs, and mem_limit, in docker-compose.yml",
      ),
    );
  else if (where?.includes("/.next/server/"))
    results.push(
      failed(
        "files",
        `Next writes ${where}`,
        "update Next (15.5.28, 16.3.8), or experimental: { isrFlushToDisk: false }",
      ),
    );
  else
    results.push(
      failed(
        "files",
        `the app writes ${where ?? "to a read-only folder"}`,
        `write to /tmp, or add the folder to tmpfs in docker-compose.yml${workingDirectory === "/app" ? "" : ` (the app is in ${workingDirectory || "/"}, not /app)`}`,
      ),
    );
  if (memory > MAX_MEMORY)
    results.push(
      failed(
        "memory",
        `${Math.round(memory * 100)} % of 512 MB after a few requests`,
        "raise mem_limit in docker-compose.yml",
      ),
    );
  else if (memory > 0) results.push(ok("memory", `${Math.round(memory * 100)} % of its limit after a few requests`));
  return results;
}

/** Checks that the app ended by itself after SIGTERM. */
export function stop({ stop: { seconds, exitCode }, state }: AppFacts): Result {
  if (!state.startsWith("running")) return unknown("stop", "not tried: the app did not run");
  if (exitCode !== 137) return ok("stop", `exits ${seconds} s after SIGTERM`);
  return failed(
    "stop",
    "ignores SIGTERM: killed after 10 s",
    'CMD ["node", "server.js"], not npm or a shell, which keep the signal',
  );
}
