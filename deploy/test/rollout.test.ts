import { afterAll, beforeAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { endLoad, type Failure, type LoadRequest, type LoadResult, load, send } from "./load.ts";
import { must, run } from "./run.ts";
import { buildImage } from "./support/images.ts";

// Runs against the stack that deploy/test/run.sh started, and leaves it with the release that it deployed last.
const home: LoadRequest = { name: "page", path: "/", status: 200 };
const hashedFile = /\/_next\/static\/chunks\/[^"?]+\.js/g;
const successor = `${process.env.COMPOSE_PROJECT_NAME}-web-successor`;

const compose = (...command: string[]) => must(["docker", "compose", ...command]);
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

/** Requests of clients with the first release. Few are for pages, because two cores serve thousands of the others in the same time. */
let requests: LoadRequest[];
let oldFiles: string[];
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
      body: '{}\n{"type":"event"}\n{}\n',
    },
    { name: "file", path: oldFiles[0] ?? "", status: 200 },
  ];
  const cheap = Array.from({ length: 12 }, (): LoadRequest => ({ name: "data", path: "/healthz", status: 200 }));
  requests = expensive.flatMap((one) => [one, ...cheap]);

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
  const result = await load(requests, 10_000, () =>
    must(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@rolled-out", WEB_IMAGE: successor }),
  );
  expect(await withLogLine(result)).toEqual([]);
  expect(Object.keys(result.requests)).toHaveLength(6);
  expect(await release()).toBe("culvert@rolled-out");
  const current = await replicas();
  expect([current.length, current.filter((id) => old.includes(id))]).toEqual([2, []]);
  // The file that the load requested belongs to the old release only.
  expect((await currentPage()).match(hashedFile)).not.toContain(oldFiles[0]);
});

test("if a release does not start, the old one keeps serving", { timeout: 180_000 }, async () => {
  let [code, output] = [0, ""];
  const result = await load(requests, 1_000, async () => {
    ({ code, output } = await run(["sh", "deploy/host/deploy.sh"], { SENTRY_TRACES_SAMPLE_RATE: "2" }));
  });
  expect(code).toBe(1);
  expect(output).toContain("SENTRY_TRACES_SAMPLE_RATE '2' is not a number from 0 to 1");
  expect(await withLogLine(result)).toEqual([]);
  expect(await release()).toBe("culvert@rolled-out");
});

test("one of two replicas killed under load: only its open responses and forms fail", {
  timeout: 180_000,
}, async () => {
  const [killed = ""] = await replicas();
  const address = await must([
    "docker",
    "inspect",
    `--format={{(index .NetworkSettings.Networks "${process.env.COMPOSE_PROJECT_NAME}_inside").IPAddress}}`,
    killed,
  ]);
  const result = await load(requests, 10_000, () => must(["docker", "kill", "--signal=KILL", killed]));
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

test("an exited replica is not reused for the next release", { timeout: 180_000 }, async () => {
  await must(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@after" });
  const [id = "", ...others] = (await compose("ps", "-aq", "web")).split("\n");
  expect(others).toEqual([]);
  expect(await must(["docker", "inspect", "--format={{.Config.Env}}", id])).toContain("SENTRY_RELEASE=culvert@after");
});

test("the proxy itself is replaced under load: only requests fail that found no proxy listening; no response is cut", {
  timeout: 180_000,
}, async () => {
  const old = await compose("ps", "-q", "proxy");
  const result = await load(requests, 1_500, () =>
    compose("up", "-d", "--no-deps", "--no-build", "--force-recreate", "--wait", "proxy"),
  );
  expect(await compose("ps", "-q", "proxy")).not.toBe(old);
  expect(result.failures.filter(({ reached }) => reached)).toEqual([]);
  console.log(`${JSON.stringify(result.requests)}, found no proxy: ${result.failures.length}`);
});
