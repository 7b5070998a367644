import { statfsSync } from "node:fs";
import { container, failed, ok, type Result, rule, warning } from "../result.ts";
import type { Container, Facts } from "./facts.ts";
import { setting } from "./settings.ts";

const RECENT_MS = 600_000;

const logs = ({ Name }: Container) => `docker logs --tail 50 ${Name}`;

/** Returns a line for each service that does not run, ends again and again, or lets others wait. */
export function down({ configured, containers, names: { spaced } }: Facts, now = Date.now()): Result[] {
  const services = Object.keys(configured);
  const missing = services.filter((name) => !containers.some(({ service }) => service === name));
  const isWaiting = ({ State, code }: Container) => State.Status === "created" && code === "not-started";
  const waiting = containers.filter(isWaiting).map(({ service }) => service);
  const stopped = containers.flatMap((stopped) => {
    const { service, Name, RestartCount: restarts, HostConfig, State, why, code } = stopped;
    const { Status: status, ExitCode: exitCode, OOMKilled: outOfMemory } = State;
    const isRecent = restarts > 0 && now - Date.parse(State.StartedAt) < RECENT_MS;
    // 130, 137 and 143 are those of `docker stop`.
    const hasFailed = status === "exited" && (outOfMemory || ![0, 130, 137, 143].includes(exitCode));
    const cannotStart = status === "created" && !isWaiting(stopped);
    const named = code === "log" ? spaced.filter((name) => why.includes(name)) : [];
    // Compose starts it when others are healthy.
    const others = isWaiting(stopped) ? services.filter((name) => !waiting.includes(name)) : [];
    const extra = { id: container(service), follows: [...named.map(setting), ...others.map(container)] };
    if (status === "restarting" || isRecent || hasFailed || cannotStart) {
      const found = restarts ? `restarted (${restarts}×)` : cannotStart ? "cannot start" : "ended";
      return [failed(service, `${found}: ${why}`, logs(stopped), extra)];
    }
    const hasFinished = HostConfig.RestartPolicy.Name === "no" && status === "exited" && exitCode === 0;
    if (status === "running" || hasFinished) return [];
    return [failed(service, `${Name} is ${status}`, status === "paused" ? `docker unpause ${Name}` : "make up", extra)];
  });
  const unhealthy = waiting.length > 0 ? containers.filter(({ State }) => State.Health?.Status === "unhealthy") : [];
  const absent = missing.map((name) => failed(name, "has no container", "make up", { id: container(name) }));
  return [...absent, ...health(unhealthy), ...stopped];
}

/** Checks that running containers are healthy. */
export function health(containers: Container[]): Result[] {
  return containers.map((running) => {
    const { service, Name, State, why } = running;
    const status = State.Health?.Status ?? State.Status;
    const extra = { id: container(service) };
    if (status === "unhealthy") return failed(service, `${Name} is unhealthy: ${why}`, logs(running), extra);
    if (status === "starting") return warning(service, `${Name} is starting: ${why}`, logs(running), extra);
    return ok(service, `${Name} is ${status}`, extra);
  });
}

/** Checks the disk with the engine's data. */
export function disk(stat: { bavail: number; blocks: number; bsize: number } = statfsSync("/")): Result[] {
  const { bavail, blocks, bsize } = stat;
  const found = `${((bavail * bsize) / 1e9).toFixed(1)} GB free`;
  const isEnough = bavail * bsize >= 2e9 && bavail / blocks >= 0.05;
  return [rule("disk", isEnough, found, found, "free space: docker system df shows its use")];
}
