import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { endLoad, type Failure, load, send } from "./load.ts";
import { lastLine, must, run } from "./run.ts";
import { docker, root } from "./support/docker.ts";
import { buildImage } from "./support/images.ts";

// A stack of its own: the tested proxy, and releases that are healthy but answer a share of the pages with 500.
const project = `culvert-bake-${process.pid}`;
const shares = { first: 20, second: 20, third: 20, fourth: 20, broken: 100, unreachable: 0, misled: 0 };
type Release = keyof typeof shares;
const image = (release: Release) => `${project}:${release}`;
const digest = async (release: Release) =>
  (await must(["docker", "image", "inspect", "--format={{.Id}}", image(release)])).slice(0, 19);
const running = () => must(["docker", "compose", "exec", "-T", "web", "printenv", "NAME"]);

const up = (release: Release, settings: Record<string, string> = {}) =>
  run(["sh", "deploy/host/up.sh"], { WEB_IMAGE: image(release), ...settings });

/** The watch of `make up`, for the release that runs now. */
const watch = `
  for file in lib stack releases watch; do . deploy/host/$file.sh; done
  use_project; watch "$(image_of "$(containers web)")"`;

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

/** Runs `make up` until it is interrupted after a command of docker that contains this text. */
async function interrupted(release: Release, after: string, signal: "INT" | "KILL", settings = {}) {
  const environment = { WEB_IMAGE: image(release), ...settings, ...(await signalAfter(after, signal)) };
  return start(["sh", "deploy/host/up.sh"], environment).finished;
}
/** The containers, exited ones included. */
const containers = async (service: string) =>
  (await must(["docker", "compose", "ps", "--all", "--quiet", service])).split("\n").sort();
const allContainers = async () => [await containers("proxy"), await containers("web")];
/** Whether compose would start the image that runs. */
const isNamed = async (service: string) => {
  const [oldest = ""] = (await must(["docker", "compose", "ps", "--quiet", service])).split("\n");
  const [id, name = ""] = (await must(["docker", "inspect", "--format={{.Image}} {{.Config.Image}}", oldest])).split(
    " ",
  );
  return (await must(["docker", "image", "inspect", "--format={{.Id}}", name])) === id;
};
/** A setting with which the proxy is replaced. */
const changed = { SERVER_NAME: "app.example.com" };
const page = async () => (typeof (await send({ name: "page", path: "/healthz", status: 200 })) === "string" ? 200 : 0);

/** Requests a page again and again until `change` is finished; returns its result and the failures. */
async function underLoad<Result>(path: string, change: Promise<Result>): Promise<[Result, Failure[]]> {
  const page = { name: "page", path, status: 200 };
  const { result, failures } = await load([page], change, { connections: 1, pauseMs: 10 });
  return [result, failures];
}

beforeAll(async () => {
  vi.stubEnv("IMAGES", process.env.COMPOSE_PROJECT_NAME);
  vi.stubEnv("COMPOSE_PROJECT_NAME", project);
  vi.stubEnv("COMPOSE_FILE", "docker-compose.yml:deploy/test/bake.compose.yml");
  vi.stubEnv("HTTPS_PORT", String(Number(process.env.HTTPS_PORT) + 3));
  vi.stubEnv("HTTP_PORT", String(Number(process.env.HTTP_PORT) + 3));
  vi.stubEnv("SENTRY_RELEASE", undefined);
  for (const [NAME, SHARE] of Object.entries(shares))
    await buildImage("deploy/test/bake", { tag: image(NAME as Release), args: { NAME, SHARE: String(SHARE) } });
  const { code, output } = await up("first");
  expect(code, output).toBe(0);
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

test("a stack that is up to date is left alone", async () => {
  const before = await allContainers();
  expect((await up("first", { ACME: "", TUNNEL_RATE_PER_CLIENT: "" })).output).toContain(
    "proxy, web and spool are up to date",
  );
  expect(await allContainers()).toEqual(before);
});

test("a new release replaces two replicas, and a rollback puts the release before back: no request fails; six releases are kept", async () => {
  const scale = ["docker", "compose", "up", "--detach", "--no-build", "--no-recreate", "--wait", "--scale"];
  await must([...scale, "web=2", "web"], { WEB_IMAGE: image("first") });
  const old = await containers("web");
  const [{ code, output }, failures] = await underLoad("/healthz", up("fourth"));
  expect([code, failures], output).toEqual([0, []]);
  const current = await containers("web");
  expect([current.length, current.filter((id) => old.includes(id))]).toEqual([2, []]);

  const older = [1, 2, 3, 4, 5, 6].map((day) => `${project}-web:release-2020010${day}T000000Z`);
  for (const tag of older) await must(["docker", "tag", `${process.env.IMAGES}-proxy`, tag]);
  // As `docker image prune -a` does: it leaves the image of a running container one name.
  await must(["docker", "image", "rm", `${project}-web`]);
  const rollback = (RELEASE = "") => run(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: image("fourth"), RELEASE });
  const [back, others] = await underLoad("/healthz", rollback());
  expect([back.code, others], back.output).toEqual([0, []]);
  expect([await running(), (await containers("web")).length]).toEqual(["first", 2]);
  const list = await must(["docker", "image", "ls", "--format={{.Tag}}", `${project}-web`]);
  const kept = list.split("\n").filter((tag) => tag.startsWith("release-"));
  expect(kept).toHaveLength(6);
  expect((await rollback("release-1")).output).toContain("'release-1' is not kept: make releases lists those that are");
  expect((await rollback(kept.sort()[4])).output).toMatch(/ is already running: make releases lists the others/);

  for (const tag of older) await run(["docker", "image", "rm", tag]);
  await must([...scale, "web=1", "web"], { WEB_IMAGE: image("first") });
});

test("with an invalid setting, one line says so, and what runs keeps serving", async () => {
  const before = await allContainers();
  const [{ code, output }, failures] = await underLoad("/healthz", up("second", { TUNNEL_PATH: "bad" }));
  expect([code, output.match(/^culvert: .*/gm)]).toEqual([
    1,
    [expect.stringMatching(/^culvert: proxy: TUNNEL_PATH 'bad' is not a path of .*; nothing was replaced/)],
  ]);
  expect([failures, await allContainers()]).toEqual([[], before]);
  expect(await isNamed("web")).toBe(true);
});

const withFile = (name: string, services: string) => {
  const file = join(folder, name);
  writeFileSync(file, `services: { ${services} }\n`);
  return { COMPOSE_FILE: `${process.env.COMPOSE_FILE}:${file}` };
};

test("a build that fails is the end: nothing is replaced", async () => {
  const { code, output } = await up("second", withFile("build.yml", "web: { build: { dockerfile: none } }"));
  expect([code, lastLine(output)]).toEqual([
    1,
    "culvert: the build failed: the reason is above; nothing was replaced, what runs keeps serving",
  ]);
});

test("of another service that does not run, its error is the reason", async () => {
  const script = "throw Object.assign(Error('no database'), { code: 'ECONNREFUSED', port: 5432 })";
  const other = `other: { image: node:24-trixie-slim, command: [node, -e, "${script}"] }`;
  const { code, output } = await up("first", withFile("other.yml", other));
  expect([code, output.match(/^culvert: .*/gm)]).toEqual([
    1,
    [
      "culvert: other (exited): Error: no database",
      "culvert: proxy, web and spool run, but not all of the others: the reason is above",
    ],
  ]);
});

const got503 = "the proxy got status 503 from the new container at";
test.each<[Release, string, Record<string, string>]>([
  ["unreachable", "nothing was replaced, what runs keeps serving", {}],
  ["misled", "the release before it keeps serving", { HEALTH_PATH: "/ready" }],
])("a release that the proxy gets 503 from does not replace the one that runs: %s", async (release, end, settings) => {
  const before = await allContainers();
  const [{ code, output }, failures] = await underLoad("/healthz", up(release, { USED_WITHIN_S: "15", ...settings }));
  expect([code, lastLine(output)]).toEqual([
    1,
    expect.stringMatching(new RegExp(`^culvert: web: ${got503} [\\d.]+; ${end}$`)),
  ]);
  expect(await allContainers()).toEqual(before);
  expect(failures).toEqual([]);
  expect(await isNamed("web")).toBe(true);
});

test("a release that is healthy but answers with 500 is reported, undone under load with no other failure, and stays undone", async () => {
  const change = up("broken", { BAKE_TIME_S: "60", ROLLBACK_ON_ERRORS: "on" });
  const [{ code, output }, failures] = await underLoad("/a/page?secret=1", change);
  expect(output).toMatch(
    /^culvert: web: \d+ of \d+ requests since its start got a 5xx \(before: \d+ of \d+\): see 'docker compose logs web'$/m,
  );
  expect([code, lastLine(output)]).toEqual([1, "culvert: the new release is bad: the one before it was put back"]);
  expect(await running()).toBe("first");
  expect(new Set(failures.map(({ outcome }) => outcome))).toEqual(new Set(["500"]));

  const before = await allContainers();
  const again = await up("broken");
  expect(again.output).toMatch(
    /^==> Keeping release-\S+: the image of .env and the sources is the one that make rollback/m,
  );
  expect([again.code, await allContainers()]).toEqual([0, before]);

  const list = await must(["sh", "deploy/host/list-releases.sh"]);
  expect(list).toMatch(new RegExp(`^release-\\S+ +${image("broken")} +\\S+ +${project}@broken .*  undone$`, "m"));
  expect(list).toMatch(
    new RegExp(`^release-\\S+ +${image("first")} +${await digest("first")} +${project}@first .*  running$`, "m"),
  );
});

test("Ctrl-C while the new release starts fails no request; the next make rollback leaves the release before it", async () => {
  const [{ code }, failures] = await underLoad("/healthz", interrupted("second", " up --detach ", "INT"));
  expect([code, failures]).toEqual([130, []]);
  expect(await isNamed("web")).toBe(true);
  const [output, others] = await underLoad(
    "/healthz",
    must(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: image("second") }),
  );
  expect([output, others]).toEqual([expect.stringContaining("==> Back to release-"), []]);
  expect([await running(), (await containers("web")).length]).toEqual(["first", 1]);
});

test("what kill -9 leaves is put in order by the next make up", async () => {
  const [proxy = ""] = await containers("proxy");
  await interrupted("third", "stop --time", "KILL", changed);
  // The old proxy has released the ports.
  expect(await containers("proxy")).toHaveLength(2);
  expect(await page()).toBe(0);

  await interrupted("third", " up --detach ", "KILL", changed);
  expect(await page()).toBe(200);
  expect(await containers("proxy")).not.toContain(proxy);
  expect(await containers("web")).toHaveLength(2);

  const [{ code }, failures] = await underLoad("/healthz", up("third", changed));
  expect([code, failures]).toEqual([0, []]);
  expect([await running(), (await containers("web")).length]).toEqual(["third", 1]);
});

test("Ctrl-C ends the watch, which keeps no other command waiting, not the release", async () => {
  const { finished, interrupt } = await startWatch();
  await must(["flock", "--nonblock", `.culvert/${project}.lock`, "true"]);
  interrupt();
  const { code, output } = await finished;
  expect([code, lastLine(output)]).toEqual([
    130,
    "culvert: stopped watching; the new release keeps running: make rollback puts the one before it back",
  ]);
  expect(await running()).toBe("third");
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
  expect([code, lastLine(output)]).toEqual([
    1,
    "culvert: the new release is bad: make rollback puts the one before it back (ROLLBACK_ON_ERRORS=on does so by itself)",
  ]);
  finished = true;
  await crashes;
  await expect.poll(() => must(["docker", "compose", "ps", "--format={{.Health}}", "web"])).toBe("healthy");
  const rollback = (settings = {}) =>
    run(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: image("third"), ...settings });
  // SERVER_NAME was typed for one make up.
  expect(lastLine((await rollback()).output)).toMatch(/^culvert: SERVER_NAME: set for the running containers, /);
  expect((await rollback(changed)).code).toBe(0);
  expect(await running()).toBe("first");
});

test("after a crash loop, make up accepts the corrected setting", async () => {
  await run(["docker", "compose", "up", "--detach", "--no-build"], { WEB_IMAGE: image("first"), TUNNEL_PATH: "bad" });
  const status = () => must(["docker", "compose", "ps", "--all", "--format={{.State}}", "proxy"]);
  await expect.poll(status).toBe("restarting");
  expect((await up("first", changed)).code).toBe(0);
  expect(await page()).toBe(200);
});

test("a first start fails as well if the proxy gets no answer below 500", async () => {
  await must(["docker", "compose", "down", "--remove-orphans", "-t", "0"]);
  const { code, output } = await up("unreachable", { USED_WITHIN_S: "15" });
  expect([code, lastLine(output)]).toEqual([1, expect.stringMatching(new RegExp(`^culvert: web: ${got503} `))]);
});
