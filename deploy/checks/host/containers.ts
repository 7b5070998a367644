import { statfsSync } from "node:fs";
import { failed, ok, type Result, skipped, warning } from "../result.ts";
import type { Container, Facts } from "./facts.ts";

const RECENT_MS = 600_000;

const logs = ({ Name }: Container) => `docker logs --tail 50 ${Name}`;

const isUnhealthy = ({ State }: Container) => State.Health?.Status === "unhealthy";

/** Returns a line for each service that does not run, ends again and again, or lets others wait. Then nothing else is asked. */
export function down({ configured, containers }: Facts, now = Date.now()): Result[] {
  const missing = Object.keys(configured).filter((service) => !containers.some((one) => one.service === service));
  const stopped = containers.flatMap((container) => {
    const { service, Name, RestartCount: restarts, HostConfig, State, why } = container;
    const { Status: status, ExitCode: code, OOMKilled: outOfMemory } = State;
    const isRecent = restarts > 0 && now - Date.parse(State.StartedAt) < RECENT_MS;
    // 130, 137 and 143 are those of `docker stop`.
    const hasFailed = status === "exited" && (outOfMemory || ![0, 130, 137, 143].includes(code));
    if (status === "restarting" || isRecent || hasFailed) {
      return [failed(service, `${restarts ? `restarted (${restarts}×)` : "ended"}: ${why}`, logs(container))];
    }
    const hasFinished = HostConfig.RestartPolicy.Name === "no" && status === "exited" && code === 0;
    if (status === "running" || hasFinished) return [];
    return [failed(service, `${Name} is ${status}`, status === "paused" ? `docker unpause ${Name}` : "make up")];
  });
  const all = [...missing.map((service) => failed(service, "has no container", "make up")), ...stopped];
  // Compose starts no container before those are healthy on which it depends.
  const created = containers.filter(({ State }) => State.Status === "created").map(({ service }) => service);
  const causes = [...all.filter(({ check }) => !created.includes(check)), ...health(containers.filter(isUnhealthy))];
  if (causes.length === 0 || created.length === 0) return all;
  const waits = `not started: waits for ${causes[0]?.check}, then for make up`;
  return [...causes, ...created.map((service) => skipped(service, waits))];
}

/** Checks that running containers are healthy. */
export function health(containers: Container[]): Result[] {
  return containers.map((container) => {
    const { service, Name, State, why } = container;
    const status = State.Health?.Status ?? State.Status;
    if (status === "unhealthy") return failed(service, `${Name} is unhealthy: ${why}`, logs(container));
    if (status === "starting") return warning(service, `${Name} is starting: ${why}`, logs(container));
    return ok(service, `${Name} is ${status}`);
  });
}

/** Checks the disk with the engine's data, as a container sees it: the spool, stored files and built images grow. */
export function disk(stat: { bavail: number; blocks: number; bsize: number } = statfsSync("/")): Result[] {
  const { bavail, blocks, bsize } = stat;
  const found = `${((bavail * bsize) / 1e9).toFixed(1)} GB free`;
  if (bavail * bsize >= 2e9 && bavail / blocks >= 0.05) return [ok("disk", found)];
  return [failed("disk", found, "free space: docker system df shows its use")];
}
