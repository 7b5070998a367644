import { Agent, request } from "node:https";
import { afterAll, expect, test } from "vitest";
import { run } from "./run.ts";

// Runs against the stack that deploy/test/run.sh started, and leaves it with the release it deployed last.
const port = Number(process.env.HTTPS_PORT);
const lanes = 20;
const agent = new Agent({ keepAlive: true, maxSockets: lanes, rejectUnauthorized: false });
afterAll(() => agent.destroy());

interface Visit {
  method: "GET" | "POST";
  path: string;
}

const tunnel = process.env.TUNNEL_PATH || "/monitoring";

/** What a visitor asks for, light enough that two cores serve thousands: data, a page now and then, and a report. */
const visits: Visit[] = [
  ...Array.from({ length: 20 }, (): Visit => ({ method: "GET", path: "/healthz" })),
  { method: "GET", path: "/no-such-page" },
  { method: "POST", path: tunnel },
];

function visit({ method, path }: Visit): Promise<string> {
  return new Promise((resolve) => {
    const outgoing = request({ host: "localhost", port, method, path, agent }, (answer) => {
      answer.on("error", (error) => resolve(error.message)).on("end", () => resolve(String(answer.statusCode)));
      answer.resume();
    });
    outgoing.on("error", (error) => resolve(error.message));
    outgoing.end(method === "POST" ? '{}\n{"type":"event"}\n{}\n' : undefined);
  });
}

/** Visits without pause from all lanes until `done` and at least `least` visits were made; counts each outcome by path. */
async function load(done: Promise<unknown>, least: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  let made = 0;
  let finished = false;
  done.finally(() => {
    finished = true;
  });
  const lane = async () => {
    while (!finished || made < least) {
      const next = visits[made++ % visits.length] as Visit;
      const outcome = `${next.path} ${await visit(next)}`;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return outcomes;
}

const wellDone = ["/healthz 200", `${tunnel} 200`, "/no-such-page 404"].sort();
const release = async () =>
  (await run(["docker", "compose", "exec", "-T", "web", "printenv", "SENTRY_RELEASE"])).output.trim();

test("a new release of web replaces the old one under load, and no request fails", { timeout: 180_000 }, async () => {
  const old = (await run(["docker", "compose", "ps", "-q", "web"])).output.trim();
  const deployed = run(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@rolled-out" });
  const outcomes = await load(deployed, 10_000);
  expect(await deployed).toMatchObject({ code: 0 });
  expect(Object.keys(outcomes).sort()).toEqual(wellDone);
  expect(await release()).toBe("culvert@rolled-out");
  expect((await run(["docker", "compose", "ps", "-q", "web"])).output.trim()).not.toBe(old);
});

test("a release that does not start leaves the old one serving", { timeout: 180_000 }, async () => {
  const deployed = run(["sh", "deploy/host/deploy.sh"], { SENTRY_TRACES_SAMPLE_RATE: "2" });
  const outcomes = await load(deployed, 1_000);
  const { code, output } = await deployed;
  expect(code).toBe(1);
  expect(output).toContain("SENTRY_TRACES_SAMPLE_RATE '2' is not a number from 0 to 1");
  expect(Object.keys(outcomes).sort()).toEqual(wellDone);
  expect(await release()).toBe("culvert@rolled-out");
});

test("one of two replicas killed under load: no request fails but for answers that had begun", {
  timeout: 180_000,
}, async () => {
  await run(["docker", "compose", "up", "-d", "--no-deps", "--no-recreate", "--scale", "web=2", "--wait", "web"], {
    SENTRY_RELEASE: "culvert@rolled-out",
  });
  const killed = (async () => {
    // Both replicas serve before one goes.
    await load(Promise.resolve(), 2_000);
    const [victim = ""] = (await run(["docker", "compose", "ps", "-q", "web"])).output.trim().split("\n");
    await run(["docker", "kill", "--signal=KILL", victim]);
  })();
  const outcomes = await load(killed, 10_000);
  // A page is streamed: what was cut in the middle of its answer can't be asked of the other replica.
  const { "/healthz aborted": cutShort = 0, "/no-such-page aborted": cutPage = 0, ...others } = outcomes;
  expect(Object.keys(others).sort()).toEqual(wellDone);
  expect(cutShort + cutPage).toBeLessThanOrEqual(lanes);
});

test("a replica that has died is not taken for the next release", { timeout: 180_000 }, async () => {
  const { code } = await run(["sh", "deploy/host/deploy.sh"], { SENTRY_RELEASE: "culvert@after" });
  const [id = "", ...others] = (await run(["docker", "compose", "ps", "-aq", "web"])).output.trim().split("\n");
  const releases = await run(["docker", "inspect", "--format={{.Config.Env}}", id]);
  expect([code, others]).toEqual([0, []]);
  expect(releases.output).toContain("SENTRY_RELEASE=culvert@after");
});
