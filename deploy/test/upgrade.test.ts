import { afterAll, beforeAll, expect, test } from "vitest";
import { findActionForm, multipart } from "../../loadtest/lib/form.ts";
import { endLoad, type LoadRequest, load, send } from "./load.ts";
import { lastLine, must, run } from "./run.ts";
import { Recorder } from "./support/recorder/client.ts";
import type { RecordedRequest } from "./support/recorder/types.ts";

// Leaves the stack with the release that it deployed last.
const home: LoadRequest = { name: "page", path: "/", status: 200 };
const hashedFile = /\/_next\/static\/chunks\/[^"?]+\.js/;

const compose = (...command: string[]) => must(["docker", "compose", ...command]);
const imageOf = (container: string) => must(["docker", "inspect", "--format={{.Image}}", container]);
const replicas = async () => (await compose("ps", "-q", "web")).split("\n");

/** Requests of clients with the first release. Few are for pages, which take the most processor time. */
let requests: LoadRequest[];
beforeAll(async () => {
  const first = await send(home);
  if (typeof first !== "string") throw new Error(JSON.stringify(first));
  const { body, contentType } = multipart(findActionForm(first)?.fields ?? [], "upgrade");
  const expensive: LoadRequest[] = [
    home,
    { name: "no such page", path: "/no-such-page", status: 404 },
    { name: "form", path: "/", status: 200, body, contentType },
    { name: "envelope", path: "/monitoring", status: 200, body: '{}\n{"type":"event"}\n{"upgrade":true}\n' },
    { name: "file", path: first.match(hashedFile)?.[0] ?? "", status: 200 },
  ];
  const cheap = Array.from({ length: 12 }, (): LoadRequest => ({ name: "data", path: "/healthz", status: 200 }));
  requests = expensive.flatMap((one) => [one, ...cheap]);

  await compose("up", "-d", "--no-recreate", "--scale", "web=2", "--wait", "web");
});
afterAll(endLoad);

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
    if (Buffer.from(body, "base64").toString().includes('{"upgrade":true}')) arrived += 1;
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
