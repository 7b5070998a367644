import { afterAll, beforeAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { endLoad, type LoadRequest, load, send } from "./load.ts";
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

test("a new release of web replaces two replicas of the old one under load, and no request fails", async () => {
  const old = await replicas();
  expect(old).toHaveLength(2);
  const result = await load(
    requests,
    must(["sh", "deploy/host/up.sh"], { SENTRY_RELEASE: "culvert@rolled-out", WEB_IMAGE: successor }),
  );
  expect(result.failures).toEqual([]);
  expect(Object.keys(result.requests)).toHaveLength(6);
  expect(await release()).toBe("culvert@rolled-out");
  const current = await replicas();
  expect([current.length, current.filter((id) => old.includes(id))]).toEqual([2, []]);
  // The file that the load requested belongs to the old release only.
  expect((await currentPage()).match(hashedFile)).not.toContain(oldFiles[0]);
});

test("a rollback puts the release before back under load, without a build, and no request fails", async () => {
  const [running = "", before = ""] = await releases();
  // More than are kept.
  const older = [6, 5, 4, 3, 2, 1].map((day) => `release-2020010${day}T000000Z`);
  for (const tag of older)
    await must(["docker", "tag", `${process.env.COMPOSE_PROJECT_NAME}-proxy`, `${repository}:${tag}`]);
  // As `docker image prune -a` does: it leaves the image of a running container one name.
  await must(["docker", "image", "rm", repository]);

  const result = await load(requests, must(["sh", "deploy/host/rollback.sh"], { WEB_IMAGE: "" }));
  expect(result.failures).toEqual([]);
  expect(await Promise.all((await replicas()).map(imageOf))).toEqual([firstImage, firstImage]);
  expect((await currentPage()).match(hashedFile)).toContain(oldFiles[0]);
  expect(await releases()).toEqual([running, before, ...older.slice(0, 4)]);
  const row = (tag: string, image: string, release: string) =>
    new RegExp(`^${tag} +${image} +sha256:[0-9a-f]{12} +${release} +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d`, "m");
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

/** Deploys another version of spool and proxy. SPOOL_CHANGE is a command of sed for the spool's schema. */
const upgrade = (settings: Record<string, string>) =>
  run(["sh", "deploy/host/up.sh"], {
    COMPOSE_FILE: `${process.env.COMPOSE_FILE}:deploy/test/upgrade.compose.yml`,
    ...settings,
  });

test("an older spool does not start with the queue of another version: the running one keeps serving, and nothing else is replaced", async () => {
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
  await expect.poll(() => compose("ps", "--format={{.Health}}", "spool")).toBe("healthy");
  for (const service of ["spool", "proxy", "web"]) {
    const name = `${process.env.COMPOSE_PROJECT_NAME}-${service}`;
    const [container = ""] = (await compose("ps", "-q", service)).split("\n");
    expect(await must(["docker", "image", "inspect", "--format={{.Id}}", name])).toBe(await imageOf(container));
  }
});

test("Culvert itself is upgraded under load: only requests fail that found no proxy listening; no response is cut", async () => {
  // Of two replicas one has exited, which compose would start again with the old release.
  const [exited = ""] = await replicas();
  await must(["docker", "stop", exited]);
  const all = async () => (await compose("ps", "--all", "--quiet", "spool", "proxy", "web")).split("\n");
  const before = await all();
  const recorder = new Recorder(`http://127.0.0.1:${process.env.RECORDER_PORT}`);
  const mark = await recorder.count();
  // Few connections: the change itself needs the processor.
  const result = await load(requests, upgrade({ SENTRY_RELEASE: "culvert@after" }), { connections: 4 });
  const { code, output } = result.result;
  expect(code, output).toBe(0);
  expect((await all()).filter((id) => before.includes(id))).toEqual([]);
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
