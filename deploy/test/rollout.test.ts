import { afterAll, beforeAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { endLoad, type Failure, type LoadRequest, type LoadResult, load, send } from "./load.ts";
import { lastLine, must, run } from "./run.ts";
import { buildImage } from "./support/images.ts";
import { Recorder } from "./support/recorder/client.ts";
import type { RecordedRequest } from "./support/recorder/types.ts";

// Leaves the stack with the release that it deployed last.
const home: LoadRequest = { name: "page", path: "/", status: 200 };
const envelope = '{}\n{"type":"event"}\n{"rollout":true}\n';
const hashedFile = /\/_next\/static\/chunks\/[^"?]+\.js/g;
const successor = `${process.env.COMPOSE_PROJECT_NAME}-web-successor`;

const compose = (...command: string[]) => must(["docker", "compose", ...command]);
const repository = `${process.env.COMPOSE_PROJECT_NAME}-web`;
/** The tags of the releases that can be put back, the last deployed first. */
const releases = async () =>
  (await must(["docker", "image", "ls", "--format={{.Tag}}", repository]))
    .split("\n")
    .filter((tag) => tag.startsWith("release-"))
    .sort()
    .reverse();
const forgetReleases = async () => {
  for (const tag of await releases()) await run(["docker", "image", "rm", `${repository}:${tag}`]);
};
const imageOf = (container: string) => must(["docker", "inspect", "--format={{.Image}}", container]);
const replicas = async () => (await compose("ps", "-q", "web")).split("\n");
const release = () => compose("exec", "-T", "web", "printenv", "SENTRY_RELEASE");

/** The home page's HTML from the current release. */
async function currentPage(): Promise<string> {
  const html = await send(home);
  if (typeof html !== "string") throw new Error(JSON.stringify(html));
  return html;
}

/** The failures, each with its line of the proxy's access log. */
async function withLogLine({ failures }: LoadResult): Promise<(Failure & { log?: { upstream: string } })[]> {
  const proxy = await compose("ps", "-q", "proxy");
  const find = async ({ requestId = "none" }: Failure) =>
    (await must(["docker", "logs", proxy])).split("\n").find((line) => line.includes(requestId));
  return Promise.all(
    failures.map(async (failure) => {
      if (failure.requestId) await expect.poll(() => find(failure)).toBeDefined();
      const line = await find(failure);
      return { ...failure, log: line && JSON.parse(line) };
    }),
  );
}

/** Requests of clients with the first release. Few are for pages, which take the most processor time. */
let requests: LoadRequest[];
let oldFiles: string[];
let firstImage: string;
beforeAll(async () => {
  const first = await currentPage();
  oldFiles = first.match(hashedFile) ?? [];
  const { body, contentType } = multipart(findActionForm(first)?.fields ?? [], "rollout");
  const expensive: LoadRequest[] = [
    home,
    { name: "no such page", path: "/no-such-page", status: 404 },
    { name: "form", path: "/", status: 200, body, contentType },
    {
      name: "envelope",
      path: process.env.TUNNEL_PATH || "/monitoring",
      status: 200,
      body: envelope,
    },
    { name: "file", path: oldFiles[0] ?? "", status: 200 },
  ];
  const cheap = Array.from({ length: 12 }, (): LoadRequest => ({ name: "data", path: "/healthz", status: 200 }));
  requests = expensive.flatMap((one) => [one, ...cheap]);

  await compose("up", "-d", "--no-recreate", "--scale", "web=2", "--wait", "web");
  await forgetReleases();
  firstImage = await imageOf((await replicas())[0] ?? "");
  await buildImage("web/e2e/successor", { tag: successor, args: { IMAGE: `${process.env.COMPOSE_PROJECT_NAME}-web` } });
});
afterAll(async () => {
  endLoad();
  await forgetReleases();
  await run(["docker", "image", "rm", successor]);
});

test("a new release of web replaces two replicas of the old one under load, and no request fails", {
  timeout: 900_000,
}, async () => {
  const old = await replicas();
  expect(old).toHaveLength(2);
  const result = await load(requests, 2_000, () =>
    must(["sh", "deploy/host/up.sh"], { SENTRY_RELEASE: "culvert@rolled-out", WEB_IMAGE: successor }),
  );
  expect(await withLogLine(result)).toEqual([]);
  expect(Object.keys(result.requests)).toHaveLength(6);
  expect(await release()).toBe("culvert@rolled-out");
  const current = await replicas();
  expect([current.length, current.filter((id) => old.includes(id))]).toEqual([2, []]);
  // The file that the load requested belongs to the old release only.
  expect((await currentPage()).match(hashedFile)).not.toContain(oldFiles[0]);
});

test("if a release does not start, the old one keeps serving, and the list of releases stays as it was", {
  timeout: 900_000,
}, async () => {
  const before = await releases();
  expect(before).toHaveLength(2);
  let [code, output] = [0, ""];
  const result = await load(requests, 1_000, async () => {
    ({ code, output } = await run(["sh", "deploy/host/up.sh"], { WEB_IMAGE: "", SENTRY_TRACES_SAMPLE_RATE: "2" }));
  });
  expect(code).toBe(1);
  expect(lastLine(output)).toMatch(
    /^culvert: web: SENTRY_TRACES_SAMPLE_RATE '2' is not a number from 0 to 1.*nothing was replaced/,
  );
  expect(await withLogLine(result)).toEqual([]);
  expect(await release()).toBe("culvert@rolled-out");
  expect(await releases()).toEqual(before);
  expect(await must(["docker", "image", "inspect", "--format={{.Id}}", repository])).toBe(
    await imageOf((await replicas())[0] ?? ""),
  );
});

test("a rollback puts the release before back under load, without a build, and no request fails", {
  timeout: 900_000,
}, async () => {
  const [running = "", before = ""] = await releases();
  // More than are kept.
  const older = [6, 5, 4, 3, 2, 1].map((day) => `release-2020010${day}T000000Z`);
  for (const tag of older)
    await must(["docker", "tag", `${process.env.COMPOSE_PROJECT_NAME}-proxy`, `${repository}:${tag}`]);
  // As `docker image prune -a` does: it leaves the image of a running container one name.
  await must(["docker", "image", "rm", repository]);

  const result = await load(requests, 1_000, () => must(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: "" }));
  expect(await withLogLine(result)).toEqual([]);
  expect(await Promise.all((await replicas()).map(imageOf))).toEqual([firstImage, firstImage]);
  expect((await currentPage()).match(hashedFile)).toContain(oldFiles[0]);
  expect(await releases()).toEqual([running, before, ...older.slice(0, 4)]);
  const row = (tag: string, image: string, release: string) =>
    new RegExp(`^${tag} +${image} +${release} +[0-9a-f]{12} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d`, "m");
  const list = await must(["sh", "deploy/host/list-releases.sh"]);
  expect(list).toMatch(new RegExp(`${row(running, successor, "culvert@rolled-out").source}  undone$`, "m"));
  expect(list).toMatch(new RegExp(`${row(before, "web/", await release()).source}  running$`, "m"));

  for (const tag of older.slice(0, 4)) await must(["docker", "image", "rm", `${repository}:${tag}`]);
  const rollback = async (RELEASE: string) => {
    const { code, output } = await run(["sh", "deploy/host/rollback.sh"], { RELEASE });
    return [code, lastLine(output)];
  };
  expect(await rollback("")).toEqual([
    1,
    "culvert: rollback: no earlier release is kept: make up keeps the one that it replaces",
  ]);
  expect(await rollback("release-1")).toEqual([
    1,
    "culvert: RELEASE: 'release-1' is not kept: make releases lists those that are",
  ]);
  expect(await rollback(before)).toEqual([
    1,
    `culvert: RELEASE: '${before}' is already running: make releases lists the others`,
  ]);
});

test("one of two replicas killed under load: only its open responses and forms fail", {
  timeout: 900_000,
}, async () => {
  const [killed = ""] = await replicas();
  const address = await must([
    "docker",
    "inspect",
    `--format={{(index .NetworkSettings.Networks "${process.env.COMPOSE_PROJECT_NAME}_inside").IPAddress}}`,
    killed,
  ]);
  const result = await load(requests, 2_000, () => must(["docker", "kill", "--signal=KILL", killed]));
  const failures = await withLogLine(result);
  for (const { name, outcome, log } of failures) {
    // The rest of a streamed response cannot be requested from the other replica; a POST may have had an effect and is never sent twice.
    expect([name === "form" ? "503" : "", "aborted"]).toContain(outcome);
    expect(log?.upstream.split(", ").at(-1), JSON.stringify(failures)).toBe(`${address}:3000`);
  }
  console.log(
    `${Object.values(result.requests).reduce((a, b) => a + b)} requests, failed with the replica: ${JSON.stringify(result.failures)}`,
  );
});

/** Deploys another version of spool and proxy. `spoolChange` is a command of sed for the spool's schema. */
const upgrade = (settings: Record<string, string>) =>
  run(["sh", "deploy/host/up.sh"], {
    COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/upgrade.compose.yml`,
    ...settings,
  });

test("an older spool does not start with the queue of another version: the running one keeps serving, and nothing else is replaced", {
  timeout: 900_000,
}, async () => {
  const others = async () => [await compose("ps", "-q", "proxy"), ...(await replicas())];
  const before = await others();
  const image = async () => imageOf(await compose("ps", "-q", "spool"));
  const running = await image();
  const { code, output } = await upgrade({ SPOOL_CHANGE: "s/^const version = .*/const version = 0;/" });
  expect([code, lastLine(output)]).toEqual([
    1,
    expect.stringMatching(/^culvert: spool: .*another version.*; the one before it was started again$/),
  ]);
  expect([await image(), await others()]).toEqual([running, before]);
  expect(await compose("ps", "--format={{.Health}}", "spool")).toBe("healthy");
  for (const service of ["spool", "proxy", "web"]) {
    const name = `${process.env.COMPOSE_PROJECT_NAME}-${service}`;
    const [container = ""] = (await compose("ps", "-q", service)).split("\n");
    expect(await must(["docker", "image", "inspect", "--format={{.Id}}", name])).toBe(await imageOf(container));
  }
});

test("Culvert itself is upgraded under load: only requests fail that found no proxy listening; no response is cut", {
  timeout: 900_000,
}, async () => {
  // Of two replicas the first has exited, which compose would rather keep than the one that runs.
  await compose("start", "web");
  const number = '--format={{index .Config.Labels "com.docker.compose.container-number"}}';
  const numbers = await Promise.all(
    (await replicas()).map(async (id) => ({ id, number: Number(await must(["docker", "inspect", number, id])) })),
  );
  expect(numbers).toHaveLength(2);
  numbers.sort((one, other) => one.number - other.number);
  await must(["docker", "stop", numbers[0]?.id ?? ""]);
  const all = async () => (await compose("ps", "--all", "--quiet", "spool", "proxy", "web")).split("\n");
  const before = await all();
  const recorder = new Recorder(`http://127.0.0.1:${process.env.RECORDER_PORT}`);
  const mark = await recorder.count();
  let output = "";
  const upgraded = async () => {
    const result = await upgrade({ SENTRY_RELEASE: "culvert@after" });
    expect(result.code, result.output).toBe(0);
    output = result.output;
  };
  // Few connections: the change itself needs the processor.
  const result = await load(requests, 1_500, upgraded, 4);
  expect((await all()).filter((id) => before.includes(id))).toEqual([]);
  // A replica that had exited is not started again with the old release.
  for (const id of (await compose("ps", "--all", "--quiet", "web")).split("\n"))
    expect(await must(["docker", "inspect", "--format={{.Config.Env}}", id])).toContain("SENTRY_RELEASE=culvert@after");
  expect(output.match(/==> (Try|Replace) .*/g)).toEqual([
    "==> Try spool proxy web",
    "==> Replace spool",
    "==> Replace proxy",
    "==> Replace web",
  ]);
  expect(result.failures.filter(({ reached }) => reached)).toEqual([]);
  const accepted = (result.requests.envelope ?? 0) - result.failures.filter(({ name }) => name === "envelope").length;
  let arrived = 0;
  const isLast = ({ body }: RecordedRequest) => {
    // Not the whole envelope: the spool adds `sent_at` to the header of those that it has queued.
    if (Buffer.from(body, "base64").toString().includes('{"rollout":true}')) arrived += 1;
    return arrived >= accepted || undefined;
  };
  await recorder.waitFor(isLast, mark, 600_000);
  console.log(`${JSON.stringify(result.requests)}, found no proxy: ${result.failures.length}`);
  const { output: again } = await run(["docker", "compose", "--dry-run", "up", "--detach"], {
    COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/upgrade.compose.yml`,
    SENTRY_RELEASE: "culvert@after",
  });
  expect(again).not.toContain("Recreate");
});
