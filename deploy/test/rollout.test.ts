import { afterAll, beforeAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { endLoad, type Failure, load, type Made, type Visit, visit } from "./load.ts";
import { must, run } from "./run.ts";
import { buildImage } from "./support/images.ts";

// Runs against the stack that deploy/test/run.sh started, and leaves it with the release it deployed last.
const home: Visit = { name: "page", path: "/", status: 200 };
const hashedFile = /\/_next\/static\/chunks\/[^"?]+\.js/g;
const successor = `${process.env.COMPOSE_PROJECT_NAME}-web-successor`;

const compose = (...command: string[]) => must(["docker", "compose", ...command]);
const replicas = async () => (await compose("ps", "-q", "web")).split("\n");
const release = () => compose("exec", "-T", "web", "printenv", "SENTRY_RELEASE");

/** A page's HTML, whichever release answers. */
async function pageNow(): Promise<string> {
  const html = await visit(home);
  if (typeof html !== "string") throw new Error(JSON.stringify(html));
  return html;
}

/** What failed, each with the line that the proxy's access log has of it. */
async function explained({ failures }: Made): Promise<(Failure & { log?: { upstream: string } })[]> {
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

/** What visitors of the first release ask for. Pages are few: two cores serve thousands of the rest meanwhile. */
let visits: Visit[];
let oldFiles: string[];
beforeAll(async () => {
  const first = await pageNow();
  oldFiles = first.match(hashedFile) ?? [];
  const { body, contentType } = multipart(findActionForm(first)?.fields ?? [], "rollout");
  const dear: Visit[] = [
    home,
    { name: "no such page", path: "/no-such-page", status: 404 },
    { name: "form", path: "/", status: 200, body, contentType },
    { name: "report", path: process.env.TUNNEL_PATH || "/monitoring", status: 200, body: '{}\n{"type":"event"}\n{}\n' },
    { name: "file", path: oldFiles[0] ?? "", status: 200 },
  ];
  const light = Array.from({ length: 12 }, (): Visit => ({ name: "data", path: "/healthz", status: 200 }));
  visits = dear.flatMap((one) => [one, ...light]);

  await compose("up", "-d", "--no-deps", "--no-recreate", "--scale", "web=2", "--wait", "web");
  await buildImage("web/e2e/successor", { tag: successor, args: { IMAGE: `${process.env.COMPOSE_PROJECT_NAME}-web` } });
});
afterAll(async () => {
  endLoad();
  await run(["docker", "image", "rm", successor]);
});

test("a new release of web replaces two replicas of the old one under load, and no request fails", {
  timeout: 180_000,
}, async () => {
  const old = await replicas();
  expect(old).toHaveLength(2);
  const made = await load(visits, 10_000, () =>
    must(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@rolled-out", WEB_IMAGE: successor }),
  );
  expect(await explained(made)).toEqual([]);
  expect(Object.keys(made.visits)).toHaveLength(6);
  expect(await release()).toBe("culvert@rolled-out");
  const now = await replicas();
  expect([now.length, now.filter((id) => old.includes(id))]).toEqual([2, []]);
  // What was asked for all the while is the old release's alone.
  expect((await pageNow()).match(hashedFile)).not.toContain(oldFiles[0]);
});

test("a release that does not start leaves the old one serving", { timeout: 180_000 }, async () => {
  let [code, output] = [0, ""];
  const made = await load(visits, 1_000, async () => {
    ({ code, output } = await run(["sh", "deploy/host/deploy.sh"], { SENTRY_TRACES_SAMPLE_RATE: "2" }));
  });
  expect(code).toBe(1);
  expect(output).toContain("SENTRY_TRACES_SAMPLE_RATE '2' is not a number from 0 to 1");
  expect(await explained(made)).toEqual([]);
  expect(await release()).toBe("culvert@rolled-out");
});

test("one of two replicas killed under load: what fails had begun on it, an answer or a form; nothing else does", {
  timeout: 180_000,
}, async () => {
  const [victim = ""] = await replicas();
  const address = await must([
    "docker",
    "inspect",
    `--format={{(index .NetworkSettings.Networks "${process.env.COMPOSE_PROJECT_NAME}_inside").IPAddress}}`,
    victim,
  ]);
  const made = await load(visits, 10_000, () => must(["docker", "kill", "--signal=KILL", victim]));
  const failures = await explained(made);
  for (const { name, outcome, log } of failures) {
    // An answer is streamed: its rest can't be asked of the other replica. A POST may have been acted on: it is never sent twice.
    expect([name === "form" ? "503" : "", "aborted"]).toContain(outcome);
    expect(log?.upstream.split(", ").at(-1), JSON.stringify(failures)).toBe(`${address}:3000`);
  }
  console.log(
    `${Object.values(made.visits).reduce((a, b) => a + b)} visits, killed with the replica: ${JSON.stringify(made.failures)}`,
  );
});

test("a replica that has died is not taken for the next release", { timeout: 180_000 }, async () => {
  await must(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@after" });
  const [id = "", ...others] = (await compose("ps", "-aq", "web")).split("\n");
  expect(others).toEqual([]);
  expect(await must(["docker", "inspect", "--format={{.Config.Env}}", id])).toContain("SENTRY_RELEASE=culvert@after");
});

test("the proxy itself is replaced under load: what fails found no proxy listening, and no answer is cut", {
  timeout: 180_000,
}, async () => {
  const old = await compose("ps", "-q", "proxy");
  const made = await load(visits, 1_500, () =>
    compose("up", "-d", "--no-deps", "--no-build", "--force-recreate", "--wait", "proxy"),
  );
  expect(await compose("ps", "-q", "proxy")).not.toBe(old);
  expect(made.failures.filter(({ reached }) => reached)).toEqual([]);
  console.log(`${JSON.stringify(made.visits)}, found nobody: ${made.failures.length}`);
});
