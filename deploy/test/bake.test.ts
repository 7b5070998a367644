import { spawn } from "node:child_process";
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
  for file in lib settings ports reason rolling release-list bake; do . deploy/host/$file.sh; done
  check_bake_settings; find_running; new=$old new_image=new before="0 0"; watch`;

/** Starts it, and returns once it says that it watches. */
async function startWatch() {
  // A process group of its own, as in a terminal.
  const child = spawn("sh", ["-euc", watch], {
    cwd: root,
    env: { ...process.env, BAKE_TIME_S: "600" },
    detached: true,
  });
  let output = "";
  const finished = new Promise<{ code: number | null; output: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, output }));
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      output += chunk;
    });
  await expect.poll(() => output).toContain("==> Watch the new release for 600 s");
  return { finished, interrupt: () => process.kill(-(child.pid as number), "SIGINT") };
}

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
afterAll(async () => {
  endLoad();
  await run(["docker", "compose", "--profile", "*", "down", "--volumes", "-t", "0"]);
  const images = await docker("image", "ls", "--format={{.Repository}}:{{.Tag}}", `--filter=reference=${project}*`);
  await docker("image", "rm", ...images.output.trim().split("\n"));
});

test("a release that answers 5xx as often as the one before it is not called bad", async () => {
  const [{ code, output }] = await underLoad("/", deploy("second", { BAKE_TIME_S: "5" }));
  expect(lastLine(output)).toMatch(
    /^ +\d+ of the last \d+ requests got a 5xx \(\d+\.\d %; before this release \d+\.\d %\)/,
  );
  expect(code).toBe(0);
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

test("Ctrl-C ends the watch, not the release", async () => {
  const { finished, interrupt } = await startWatch();
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
  await must(["sh", "deploy/host/rollback.sh"]).finally(() => {
    finished = true;
  });
  await crashes;
  expect(await running()).toBe("first");
});

/** The output of a command in a shell that has the functions of bake.sh. */
const shell = async (command: string) => (await run(["sh", "-c", `. deploy/host/bake.sh; ${command}`])).output.trim();

test.each([
  // failed, total, failed before, total before
  [[3, 3, 0, 3], "fine", "three requests a minute prove nothing"],
  [[9, 2000, 0, 2000], "fine", "nine failures prove nothing"],
  [[20, 1000, 20, 1000], "fine", "2 % as before"],
  [[45, 1000, 20, 1000], "fine", "chance"],
  [[60, 1000, 20, 1000], "bad", "6 % after 2 %"],
  [[30, 1000, 0, 1000], "bad", "3 % after none"],
  [[30, 10_000, 0, 10_000], "fine", "0.3 %"],
  [[20, 1000, 0, 0], "fine", "2 % after no requests to compare with"],
  [[100, 1000, 0, 0], "bad", "10 % after no requests"],
  [[1000, 1000, 600, 1000], "fine", "the release before was broken, too"],
])("%j requests are %s: %s", async (counts, expected) => {
  expect(await shell(`if too_many ${counts.join(" ")}; then echo bad; else echo fine; fi`)).toBe(expected);
});

test("without requests, the result says that nothing is known", async () => {
  expect(await shell("total=0; summary")).toBe("no requests came: nothing is known about the new release");
});

test("of the proxy's log, the 5xx of pages count, not those of the tunnel; an example has no control character", async () => {
  const log = [
    '{"request_id":"a1","path":"/x","status":503,"reason":"unreachable"}',
    '{"request_id":"a2","path":"/\u009b2J","status":504,"reason":"timeout"}',
    '{"request_id":"a3","path":"/\\"status\\":500,","status":404,"reason":""}',
    '{"request_id":"a4","route":"tunnel","outcome":"failed","status":503}',
    '{"request_id":"a5","path":"/","status":503,"reason":"overload"}',
  ];
  expect(await shell(`printf '%s\\n' '${log.join("' '")}' | count_requests`)).toBe("3 2 504 a2 /??2J");
});

test("no control character comes from a path: what a client sends as \\033[2J stays text", async () => {
  const line = String.raw`{"request_id":"a1","path":"/\\033[2J\"x","status":500,"reason":""}`;
  const count = "read -r total failed status request_id path";
  const script = `left_s=0 total_before=0 failed_before=0
    printf '%s\\n' '${line}' | count_requests | { ${count}; total=10 failed=10; error_problem; }`;
  expect(await shell(script)).toBe(
    String.raw`10 of the last 10 requests got a 5xx (100.0 %; before this release no requests), such as /\\033[2J\"x (500, request id a1); see 'docker compose logs web'`,
  );
});

test("if the proxy's log cannot be read, the result says so", async () => {
  const script = "proxy=no-such-container; total=$(requests 1s | cut -d ' ' -f 1); error_problem; summary";
  expect(await shell(script)).toBe("the proxy's log cannot be read: the release was not watched");
});

test.each([
  [{ BAKE_TIME_S: "1m" }, "culvert: BAKE_TIME_S: '1m' is not a number of seconds: use one from 1 to 9999, or off"],
  [{ BAKE_TIME_S: "090" }, "culvert: BAKE_TIME_S: '090' is not a number of seconds: use one from 1 to 9999, or off"],
  [
    { ROLLBACK_ON_ERRORS: "yes" },
    "culvert: ROLLBACK_ON_ERRORS: 'yes' is neither on nor off: use on to undo a release that answers with 5xx",
  ],
])("make deploy rejects %j before it changes anything", async (settings, line) => {
  const { code, output } = await deploy("first", settings);
  expect([code, lastLine(output)]).toEqual([1, line]);
});
