import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { endLoad, type Failure, send } from "./load.ts";
import { lastLine, must, run } from "./run.ts";
import { docker, root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

// A stack of its own: the tested proxy, and releases that are healthy but answer a share of the pages with 500.
const project = `culvert-bake-${process.pid}`;
const shares = { first: 20, second: 20, broken: 100 };
type Release = keyof typeof shares;
const image = (release: Release) => `${project}:${release}`;
const running = () => must(["docker", "compose", "exec", "-T", "web", "printenv", "NAME"]);

const deploy = (release: Release, settings: Record<string, string>) =>
  run(["sh", "deploy/host/deploy.sh"], { WEB_IMAGE: image(release), ...settings });

/** The watch of `make deploy`, for the release that runs now. */
const watch = `
  here=deploy/host root=$PWD
  for file in lib settings rolling release-list bake; do . deploy/host/$file.sh; done
  check_bake_settings; repair; find_running; new=$old new_image=new before="0 0"; watch`;

/** Starts a command in a process group of its own, as in a terminal. */
function start([file = "", ...args]: string[], environment: Record<string, string>) {
  const child = spawn(file, args, { cwd: root, env: { ...process.env, ...environment }, detached: true });
  let output = "";
  const finished = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, output }));
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  return { finished, output: () => output, interrupt: () => process.kill(-(child.pid as number), "SIGINT") };
}

/** Starts the watch, and returns once it says that it watches. */
async function startWatch() {
  const started = start(["sh", "-euc", watch], { BAKE_TIME_S: "600" });
  await expect.poll(started.output).toContain("==> Watch the new release for 600 s");
  return started;
}

const folder = mkdtempSync(join(tmpdir(), "culvert-deploy-"));
/** A docker client that sends a signal to its process group after the first command that contains this text. */
async function signalAfter(text: string, signal: "INT" | "KILL"): Promise<Record<string, string>> {
  const client = join(folder, "docker");
  const docker = (await must(["sh", "-c", "command -v docker"])).trim();
  writeFileSync(
    client,
    `#!/bin/sh\n${docker} "$@"\nended=$?\ncase "$*" in *"${text}"*) rm "$0"; kill -${signal} 0 ;; esac\nexit $ended\n`,
  );
  chmodSync(client, 0o755);
  return { PATH: `${folder}:${process.env.PATH}` };
}

/** Runs `make deploy` until it is interrupted after a command of docker that contains this text. */
async function interrupted(release: Release, after: string, signal: "INT" | "KILL", settings = {}) {
  const environment = { WEB_IMAGE: image(release), ...settings, ...(await signalAfter(after, signal)) };
  return start(["sh", "deploy/host/deploy.sh"], environment).finished;
}
/** The containers, exited ones included. */
const containers = async (service: string) =>
  (await must(["docker", "compose", "ps", "--all", "--quiet", service])).split("\n").sort();
/** A setting with which the proxy is replaced. */
const changed = { SERVER_NAME: "app.example.com" };
const page = async () => (typeof (await send({ name: "page", path: "/healthz", status: 200 })) === "string" ? 200 : 0);

/** Requests a page again and again, with a pause, until `change` is finished; returns its result and the failures. */
async function underLoad<Result>(path: string, change: Promise<Result>): Promise<[Result, Failure[]]> {
  let finished = false;
  const failures: Failure[] = [];
  const requests = (async () => {
    while (!finished) {
      const response = await send({ name: "page", path, status: 200 });
      if (typeof response !== "string") failures.push(response);
      await pause(10);
    }
  })();
  const result = await change.finally(() => {
    finished = true;
  });
  await requests;
  return [result, failures];
}

beforeAll(async () => {
  vi.stubEnv("IMAGES", process.env.COMPOSE_PROJECT_NAME);
  vi.stubEnv("COMPOSE_PROJECT_NAME", project);
  vi.stubEnv("COMPOSE_FILE", "docker-compose.yml:deploy/test/bake.compose.yml");
  vi.stubEnv("HTTPS_PORT", String(Number(process.env.HTTPS_PORT) + 3));
  vi.stubEnv("HTTP_PORT", String(Number(process.env.HTTP_PORT) + 3));
  vi.stubEnv("WEB_IMAGE", image("first"));
  for (const [NAME, SHARE] of Object.entries(shares))
    await buildImage("deploy/test/bake", { tag: image(NAME as Release), args: { NAME, SHARE: String(SHARE) } });
  await must(["docker", "compose", "up", "--build", "--wait"]);
});
// Runs after the next one: other files of this process have the environment that they began with.
afterAll(() => void vi.unstubAllEnvs());
afterAll(async () => {
  endLoad();
  rmSync(folder, { recursive: true });
  await run(["docker", "compose", "--profile", "*", "down", "--remove-orphans", "--volumes", "-t", "0"]);
  const images = await docker("image", "ls", "--format={{.Repository}}:{{.Tag}}", `--filter=reference=${project}*`);
  await docker("image", "rm", ...images.output.trim().split("\n"));
});

test("a release that answers 5xx as often as the one before it is not called bad; another service that does not start is", async () => {
  const other = join(folder, "other.yml");
  const entrypoint = "entrypoint: ['false'], networks: [inside]";
  writeFileSync(other, `services: { other: { image: '${image("first")}', ${entrypoint} } }\n`);
  const COMPOSE_FILE = `${process.env.COMPOSE_FILE}:${other}`;
  const [{ code, output }] = await underLoad("/", deploy("second", { BAKE_TIME_S: "5", COMPOSE_FILE }));
  expect(output).toMatch(/^ +\d+ of the last \d+ requests got a 5xx \(\d+\.\d %; before this release \d+\.\d %\)/m);
  expect(output).toMatch(/other-1 exited \(1\)/);
  expect([code, lastLine(output)]).toEqual([
    1,
    "culvert: web was replaced, but not all others that have changed have started: the reason is above",
  ]);
  expect(await running()).toBe("second");

  // As the watch of an earlier, bad release would, after it has waited for this deployment.
  const undo = await run(["sh", "deploy/host/rollback.sh"], { BAD_IMAGE: "sha256:0" });
  expect([undo.code, lastLine(undo.output)]).toEqual([
    1,
    "culvert: rollback: another make deploy or rollback has replaced the bad release",
  ]);
  expect(await running()).toBe("second");
});

test("a release that is healthy but answers with 500 is reported, and undone under load with no other failure", async () => {
  const change = deploy("broken", { BAKE_TIME_S: "60", ROLLBACK_ON_ERRORS: "on" });
  const [{ code, output }, failures] = await underLoad("/a/page?secret=1", change);
  expect(output).toMatch(
    /^culvert: web: \d+ of the last \d+ requests got a 5xx \(\d+\.\d %; before this release \d+\.\d %\), such as \/a\/page \(500, request id [0-9a-f]{32}\); see 'docker compose logs web'$/m,
  );
  expect(lastLine(output)).toBe("culvert: the new release is bad: the one before it was put back");
  expect(code).toBe(1);
  expect(await running()).toBe("second");
  expect(new Set(failures.map(({ outcome }) => outcome))).toEqual(new Set(["500"]));
});

test("Ctrl-C while the new release starts removes it, and no request fails", async () => {
  const before = await containers("web");
  const [{ code, output }, failures] = await underLoad("/healthz", interrupted("first", " up --detach ", "INT"));
  expect([code, lastLine(output)]).toEqual([130, "==> Remove the new containers"]);
  expect(failures).toEqual([]);
  expect(await containers("web")).toEqual(before);
  const named = await must(["docker", "image", "inspect", "--format={{.Id}}", `${project}-web`]);
  expect(await must(["docker", "inspect", "--format={{.Image}}", before[0] ?? ""])).toBe(named);
});

test("what kill -9 leaves is put in order by whatever is run next", async () => {
  const web = await containers("web");
  const [proxy = ""] = await containers("proxy");
  await interrupted("first", "stop -t", "KILL", changed);
  // The old proxy has released the ports.
  expect(await containers("proxy")).toHaveLength(2);
  expect(await page()).toBe(0);

  await interrupted("first", " up --detach ", "KILL", changed);
  expect(await page()).toBe(200);
  expect(await containers("proxy")).not.toContain(proxy);
  expect(await containers("proxy")).toHaveLength(1);
  expect(await containers("web")).toHaveLength(2);

  const [output, failures] = await underLoad("/healthz", must(["sh", "deploy/host/rollback.sh"], changed));
  expect(lastLine(output)).toBe(
    "    The release before the interrupted one serves. 'make rollback' now goes one further back.",
  );
  expect(failures).toEqual([]);
  expect(await containers("web")).toEqual(web);
});

test("Ctrl-C ends the watch, which keeps no other deployment waiting, not the release", async () => {
  const { finished, interrupt } = await startWatch();
  await must(["flock", "--nonblock", `.culvert/${project}.lock`, "true"]);
  interrupt();
  const { code, output } = await finished;
  expect([code, lastLine(output)]).toEqual([
    130,
    "culvert: stopped watching; the new release keeps running: make rollback puts the one before it back",
  ]);
  expect(await running()).toBe("second");
});

test("a release that crashes again and again is reported with its reason, and make rollback gets away from it", async () => {
  const container = await must(["docker", "compose", "ps", "-q", "web"]);
  // Not by requests through the proxy: their 503 would be reported first.
  const request = ["docker", "exec", container, "node", "-e", "fetch('http://127.0.0.1:3000/crash')"];
  let finished = false;
  const crashes = (async () => {
    while (!finished) {
      await run(request);
      await pause(100);
    }
  })();
  const { code, output } = await (await startWatch()).finished;
  expect(output).toMatch(/^culvert: web: restarted \d+ times: /m);
  expect(lastLine(output)).toBe(
    "culvert: the new release is bad: make rollback puts the one before it back (ROLLBACK_ON_ERRORS=on does so by itself)",
  );
  expect(code).toBe(1);
  await must(["sh", "deploy/host/rollback.sh"], changed).finally(() => {
    finished = true;
  });
  await crashes;
  expect(await running()).toBe("first");
});
