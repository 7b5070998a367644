import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type LoadRequest, load, send } from "../load.ts";
import { compose, host, must, run, temporary, useStack } from "../run.ts";
import { IMAGES, type Outcome, projectName, root } from "../support/docker.ts";
import { buildImage } from "../support/images.ts";

const releases = ["first", "second", "third", "broken", "unreachable"] as const;
type Release = (typeof releases)[number];
type Settings = Record<string, string>;

export const kept = "nothing was replaced, what runs keeps serving";
export const page = (path: string): LoadRequest => ({ name: path, path, status: 200 });
export const get = (path: string, status = 200) => send({ ...page(path), status });

export const running = () => compose("exec", "-T", "web", "printenv", "NAME");
export const ids = async (...command: string[]) =>
  (await must(["docker", ...command])).split("\n").filter(Boolean).sort();
export const containers = (service: string) => ids("compose", "ps", "--all", "--quiet", service);

/** Requests the health check and these until `change` is finished; returns its result and the failures. */
export async function underLoad(
  change: Promise<Outcome>,
  requests: LoadRequest[] = [],
  speed = { connections: 1, pauseMs: 25 },
) {
  const { result, failures } = await load([page("/healthz"), ...requests], change, speed);
  return [result, failures] as const;
}

/** Types `docker compose up -d` under load: every container is as .env says, and no request fails. */
export async function expectUntouched(settings: Settings = {}) {
  const all = async () => [...(await containers("proxy")), ...(await containers("web"))];
  const before = await all();
  const [{ code, output }, failures] = await underLoad(run(["docker", "compose", "up", "--detach"], settings));
  expect([code, failures, await all()], output).toEqual([0, [], before]);
}

/**
 * A stack of its own for the tests of a file: the tested proxy, and releases that are healthy; server.cjs says what else
 * they are. It begins with the first release. Its ports are `port` above those of the tests' stack.
 */
export function releaseStack(name: string, port: number) {
  const project = projectName(name);
  const image = (release: Release) => `${project}:${release}`;
  const envFile = temporary("env", "");
  /** What make rollback reads: a line for each release, the last deployed last. */
  const releasesFile = join(root, ".culvert", `${project}.releases`);
  const up = (release: Release, settings?: Settings) => host("up", { WEB_IMAGE: image(release), ...settings });
  const rollback = (release: Release, settings?: Settings) =>
    host("rollback", { WEB_IMAGE: image(release), ...settings });
  const written = () => readFileSync(envFile, "utf8");
  const generated = /^(?:WEB_SET|WEB_RELEASE|SERVER_ACTIONS_KEY_FILE|BUILD_CA_FILE)=.*\n/gm;
  const saved = () => written().replace(generated, "");
  const save = (text: string) => writeFileSync(envFile, `${(written().match(generated) ?? []).join("")}${text}`);

  // Runs last. By their names: another run may have the same images.
  afterAll(async () => {
    const images = `docker image ls --format '{{.Repository}}:{{.Tag}}' --filter=reference='${project}*'`;
    await run(["sh", "-c", `docker image rm $(${images})`]);
    rmSync(releasesFile);
  });
  useStack(project, port, {
    IMAGES,
    COMPOSE_FILE: "docker-compose.yml:deploy/test/releases.compose.yml",
    SENTRY_RELEASE: undefined,
    COMPOSE_ENV_FILES: envFile,
  });
  beforeAll(async () => {
    for (const NAME of releases) await buildImage("deploy/test/releases", { tag: image(NAME), args: { NAME } });
    const { code, output } = await up("first");
    expect(code, output).toBe(0);
  });
  beforeEach(({ onTestFailed }) => {
    save("");
    // For another attempt, and the other tests.
    onTestFailed(async () => {
      save("");
      await up("first");
    });
  });
  return { project, image, envFile, releasesFile, up, rollback, saved, save };
}
