import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "./run.ts";
import { docker, label } from "./support/docker.ts";
import { envelopeOf, Recorder } from "./support/recorder/client.ts";
import { recorderArguments } from "./support/recorder/container.ts";

const name = `culvert-shutdown-${process.pid}`;
const environment = {
  COMPOSE_PROJECT_NAME: name,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/shutdown.compose.yml",
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  OUTSIDE: name,
  UPSTREAM_URL: "",
};

const compose = (...command: string[]) => must(["docker", "compose", ...command], environment);

const ingest = `${name}-ingest`;

let recorder: Recorder;
beforeAll(async () => {
  await docker("network", "create", label, name);
  const options = [label, `--name=${ingest}`, "-p=127.0.0.1::9001"];
  const started = await docker("run", "-d", ...options, ...recorderArguments());
  expect(started.code, started.output).toBe(0);
  await docker("network", "connect", "--alias=recorder", name, ingest);
  const port = (await docker("port", ingest, "9001")).output.trim().split(":").at(-1);
  recorder = new Recorder(`http://127.0.0.1:${port}`);
  await compose("up", "-d", "--no-build", "--wait", "--wait-timeout", "60");
});
afterAll(async () => {
  await compose("down", "--volumes", "-t", "0");
  await docker("rm", "-f", "-v", ingest);
  await docker("network", "rm", name);
});

/**
 * Makes web's server throw without a pause until web stops, by requests from inside its container, which continue when the proxy has
 * stopped. Every page answered with 500 is a captured exception; `ids` are their trace ids.
 */
function throwExceptions() {
  const loop = `const throwInTurn = async () => {
    for (;;) {
      const id = crypto.randomUUID().replaceAll("-", "");
      const headers = { "sentry-trace": id + "-" + id.slice(16) + "-1" };
      const page = await fetch("http://127.0.0.1:3000/test-events/server-exception", { headers });
      await page.text();
      if (page.status === 500) console.log(id);
    }
  };
  for (let client = 0; client < 4; client++) throwInTurn().catch(() => {});`;
  const inside = spawn("docker", ["exec", `${name}-web-1`, "node", "-e", loop]);
  const ids: string[] = [];
  createInterface({ input: inside.stdout }).on("line", (id) => ids.push(id));
  return { ids, ended: new Promise((resolve) => inside.on("close", resolve)) };
}

/** The trace ids of the exceptions that the ingest has received. */
async function received(): Promise<Set<string>> {
  const events = (await recorder.all()).map(envelopeOf).flatMap(({ items }) => items);
  return new Set(
    events.filter(({ header }) => header.type === "event").map(({ payload }) => payload.contexts.trace.trace_id),
  );
}

test("the stack goes down while the server throws and the ingest hangs: the next start delivers every exception", async () => {
  const { ids, ended } = throwExceptions();
  const atLeast = (min: number) => expect.poll(() => ids.length).toBeGreaterThan(min);
  await atLeast(20);
  await docker("kill", "--signal=STOP", ingest);
  await atLeast(ids.length + 60);
  await compose("down");
  await ended;

  await docker("kill", "--signal=CONT", ingest);
  const missing = async () => {
    const found = await received();
    return ids.filter((id) => !found.has(id));
  };
  const queued = (await missing()).length;
  expect(queued, "some were queued while the stack was down").toBeGreaterThan(0);
  await compose("up", "-d", "--no-build", "--wait", "--wait-timeout", "60");
  await expect.poll(missing).toEqual([]);
  console.log(
    `${ids.length} exceptions; ${queued} queued while the stack was down, all delivered after the next start`,
  );
});
