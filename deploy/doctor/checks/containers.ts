import type { Container, Facts } from "../facts.ts";
import { failed, ok, type Result, unknown } from "../result.ts";

/** Of its memory limit, from which on a container is close to being killed. */
const MAX_MEMORY = 0.9;
const RECENT_MS = 600_000;
const DAY_MS = 86_400_000;
const MAX_IMAGE_DAYS = 45;

/** Returns the line of a log that says why a process ended: the last one that is neither a stack frame nor what Node adds below an error. */
export const lastWords = (lines: string[]): string =>
  lines
    .findLast(
      (line) =>
        /\w/.test(line) && !/^\s+at |^Node\.js v|^\s*[}\]^]|^\s*(?:code|errno|syscall|digest)\b.*[:=]/.test(line),
    )
    ?.trim() ?? "";

/** Returns a line for each container that ends again and again, or that has ended: then the reason is in its log, and nothing else matters. */
export function crashed(containers: Container[], now = Date.now()): Result[] {
  return containers.flatMap(
    ({ service, name, status, health, exitCode, restarts, outOfMemory, started, lastLines }) => {
      const isRecent = restarts > 0 && (health !== "healthy" || now - Date.parse(started) < RECENT_MS);
      // 130, 137 and 143 are those of `docker stop`.
      const hasEnded = status === "exited" && (outOfMemory || ![0, 130, 137, 143].includes(exitCode));
      if (status !== "restarting" && !isRecent && !hasEnded) return [];
      const times = restarts === 0 ? "ended" : `restarted ${restarts} ${restarts === 1 ? "time" : "times"}`;
      const memory = outOfMemory ? ["out of memory: raise its mem_limit in docker-compose.yml"] : [];
      const why = [...memory, lastWords(lastLines)].find(Boolean) ?? `exit status ${exitCode}, and its log is empty`;
      return [failed(service, `${times}: ${why}`, `docker logs --tail 50 ${name}`)];
    },
  );
}

/** Checks each service that should run: there, running, healthy, below its memory limit. */
export function containers({ configured, containers }: Facts, now = Date.now()): Result[] {
  const missing = Object.keys(configured).filter((service) => !containers.some((one) => one.service === service));
  return [
    ...missing.map((service) => failed(service, "has no container", "make up")),
    ...containers.map((container) => state(container, now)),
  ];
}

function state(
  { service, name, status, health, exitCode, restarts, isService, started, memory, lastLines }: Container,
  now: number,
): Result {
  const logs = `docker logs --tail 50 ${name}`;
  if (status === "exited" && exitCode === 0 && !isService) return ok(service, `${name} finished`);
  if (status !== "running") return failed(service, `${name} is ${status === "exited" ? "stopped" : status}`, "make up");
  if (health === "unhealthy") return failed(service, `${name} is unhealthy: ${lastWords(lastLines)}`, logs);
  const age = (now - Date.parse(started)) / 1000;
  if (health === "starting") return unknown(service, `${name} has been starting for ${Math.round(age)} s`, logs);
  const used = memory === undefined ? "" : `, ${Math.round(memory * 100)} % of its memory`;
  if (memory !== undefined && memory > MAX_MEMORY)
    return failed(
      service,
      `${name} uses${used.slice(1)}`,
      "raise its mem_limit in docker-compose.yml, or find the leak",
    );
  if (restarts > 0)
    return unknown(
      service,
      `${name} runs${used}, restarted ${restarts} times until ${started.slice(0, 19)}Z: ${lastWords(lastLines)}`,
      logs,
    );
  return ok(service, `${name} ${health || "running"}${used}`);
}

/** Checks that one release serves: containers of two mean a deployment that was interrupted. */
export function releases(containers: Container[]): Result[] {
  const web = containers.filter(({ service, status }) => service === "web" && status === "running");
  const images = new Set(web.map(({ image }) => image.id));
  if (images.size < 2) return [];
  const list = web.map(
    ({ name, image, environment }) => `${name} (${environment.SENTRY_RELEASE || image.id.slice(7, 19)})`,
  );
  return [
    failed(
      "release",
      `${images.size} releases serve at once: ${list.join(", ")}`,
      "make up completes the deployment, make rollback undoes it",
    ),
  ];
}

/** Checks the age of the images: a new build brings the security updates of what they are built on. */
export function images(containers: Container[], now = Date.now()): Result[] {
  const days = containers.flatMap(({ image }) =>
    image.created ? [Math.floor((now - Date.parse(image.created)) / DAY_MS)] : [],
  );
  const oldest = Math.max(...days);
  if (days.length === 0) return [];
  if (oldest <= MAX_IMAGE_DAYS) return [ok("images", `the oldest was built ${oldest} days ago`)];
  return [unknown("images", `the oldest was built ${oldest} days ago`, "make update brings security updates")];
}
