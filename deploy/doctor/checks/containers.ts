import type { Container, Facts } from "../facts.ts";
import { failed, ok, type Result, unknown } from "../result.ts";
import { changed } from "./setting-values.ts";

/** Of its memory limit, from which on a container is close to being killed. */
const MAX_MEMORY = 0.9;

/** A restart this recent may not be the last one. */
const RECENT_MS = 600_000;

/** Checks each service that should run: there, running, healthy, not restarted, below its memory limit. */
export function containers(configured: Facts["configured"], running: Container[], now = Date.now()): Result[] {
  const differs = changed(configured, running);
  const start = differs.length > 0 ? 'see the line "applied" before you start it' : "make up";
  // The stack may have been started with a DSN that this shell does not have.
  const isOptional = (service: string) =>
    service === "ingest" && differs.some((name) => name.startsWith("SENTRY_DSN "));
  const missing = Object.keys(configured)
    .filter((service) => !running.some((container) => container.service === service))
    .map((service) =>
      isOptional(service)
        ? unknown(service, "has no container; the stack runs with another SENTRY_DSN", start)
        : failed(service, "has no container", start),
    );
  return [...missing, ...running.map((container) => state(container, start, now))];
}

function state(
  { service, name, status, health, exitCode, restarts, restarted, outOfMemory, started, memory }: Container,
  start: string,
  now: number,
): Result {
  const logs = `docker logs --tail 50 ${name}`;
  if (status === "exited" && exitCode === 0 && !restarted) return ok(service, `${name} finished`);
  if (status === "exited" && exitCode === 0) return failed(service, `${name} was stopped`, start);
  if (outOfMemory && status !== "running")
    return failed(service, `${name} was killed: out of memory`, "raise its mem_limit in docker-compose.yml");
  if (status !== "running") return failed(service, `${name} is ${status} (exit status ${exitCode})`, logs);
  if (health === "unhealthy") return failed(service, `${name} is unhealthy`, logs);
  if (health === "starting") return unknown(service, `${name} is starting`, "ask again in a moment");
  const used = memory === undefined ? "" : `, ${Math.round(memory * 100)} % of its memory`;
  if (memory !== undefined && memory > MAX_MEMORY)
    return failed(
      service,
      `${name} uses ${used.slice(2)}`,
      "raise its mem_limit in docker-compose.yml, or find the leak",
    );
  if (restarts > 0) {
    const found = `${name} runs${used}, but was restarted ${restarts} ${restarts === 1 ? "time" : "times"}, last at ${started.slice(0, 19)}Z`;
    return now - Date.parse(started) < RECENT_MS ? failed(service, found, logs) : unknown(service, found, logs);
  }
  return ok(service, `${name} ${health || "running"}${used}`);
}
