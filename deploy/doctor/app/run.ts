import { failed, ok, type Result, unknown } from "../result.ts";
import type { AppFacts } from "./facts.ts";

/** Checks that the app gets healthy, and says what its health check was answered. */
export function health({ state, output }: AppFacts): Result {
  if (state === "running healthy") return ok("health", output);
  return failed("health", `the app did not get healthy (${state}): ${output}`, '"Health" in docs/your-app.md');
}

/** Checks that the app listens where the proxy looks for it. */
export function port({ requests: { loopback, address, path } }: AppFacts): Result {
  if (address >= 500)
    return failed("port", `${path} answers ${address}`, "read the app's log: a setting may be missing");
  if (address > 0) return ok("port", `3000, on all addresses; ${path} answers ${address}`);
  if (loopback > 0) return failed("port", "3000, but on 127.0.0.1 alone", "HOSTNAME=0.0.0.0 in the image");
  return failed("port", "nothing answers on port 3000", "PORT=3000 HOSTNAME=0.0.0.0 in the image");
}

/** Checks that the image does not run as root. */
export function user({ user }: AppFacts): Result {
  if (/^(?:|root|0)(?::|$)/.test(user)) return failed("user", "root", "USER 1000:1000 in the Dockerfile");
  return ok("user", user);
}

/** Checks that the app did not try to write where it may not, or more than there is room for. */
export function files({ log }: AppFacts): Result {
  const line = log.find((text) => /\b(?:EROFS|EACCES|ENOSPC)\b/.test(text));
  if (!line) return ok("files", "no write error in the log");
  const next = "update Next (15.5.28, 16.3.8), or experimental: { isrFlushToDisk: false }";
  const own = "write to /tmp, or add a folder or size to tmpfs in docker-compose.override.yml";
  return failed("files", line.trim(), line.includes("/.next/server/") ? next : own);
}

/** Checks that the app ended by itself after SIGTERM. */
export function stop({ stopExitCode, state }: AppFacts): Result {
  if (!state.startsWith("running")) return unknown("stop", "not tried", "the app must run first");
  if (stopExitCode !== 137) return ok("stop", "exits after SIGTERM");
  const fix = 'CMD ["node", "server.js"], not npm or a shell, which keep the signal';
  return failed("stop", "ignores SIGTERM: killed after 10 s", fix);
}
