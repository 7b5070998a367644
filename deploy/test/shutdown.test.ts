import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { must } from "./run.ts";
import { docker, label, root } from "./support/docker.ts";
import { envelopeOf, Recorder } from "./support/recorder/client.ts";

const name = `culvert-shutdown-${process.pid}`;
const environment = {
  COMPOSE_PROJECT_NAME: name,
  COMPOSE_FILE: "docker-compose.yml:deploy/test/shutdown.compose.yml",
  IMAGES: process.env.COMPOSE_PROJECT_NAME ?? "culvert",
  OUTSIDE: name,
  UPSTREAM_URL: "",
};
const recorderFolder = `${root}/deploy/test/support/recorder`;

const compose = (...command: string[]) => must(["docker", "compose", ...command], environment);

const ingest = `${name}-ingest`;
const appear = () => docker("network", "connect", "--alias=recorder", name, ingest);

let recorder: Recorder;
beforeAll(async () => {
  await docker("network", "create", label, name);
  // The test speaks to it by another network than the stack does, so that it can be out for the stack alone.
  const place = [label, `--name=${ingest}`, "-p=127.0.0.1::9001"];
  const started = await docker(
    ...["run", "-d", ...place, `--volume=${recorderFolder}:/recorder:ro`, "node:24-trixie-slim"],
    ...["node", "/recorder/server.ts"],
  );
  expect(started.code, started.output).toBe(0);
  await appear();
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
 * Has web's server throw without a pause, asked from inside web so that it goes on when the proxy is gone, until web is gone as
 * well. Every page that was answered with 500 is an exception captured; `ids` are the traces of these.
 */
function throwing() {
  const loop = `(async () => {
    for (;;) {
      const id = crypto.randomUUID().replaceAll("-", "");
      const headers = { "sentry-trace": id + "-" + id.slice(16) + "-1" };
      const page = await fetch("http://127.0.0.1:3000/test-events/server-exception", { headers });
      await page.text();
      if (page.status === 500) console.log(id);
    }
  })().catch(() => {})`;
  const inside = spawn("docker", ["exec", `${name}-web-1`, "node", "-e", loop]);
  const ids: string[] = [];
  createInterface({ input: inside.stdout }).on("line", (id) => ids.push(id));
  return { ids, ended: new Promise((resolve) => inside.on("close", resolve)) };
}

/** The traces of the exceptions that the ingest has received. */
async function received(): Promise<Set<string>> {
  const events = (await recorder.all()).map(envelopeOf).flatMap(({ items }) => items);
  return new Set(
    events.filter(({ header }) => header.type === "event").map(({ payload }) => payload.contexts.trace.trace_id),
  );
}

// Of the one that hangs, so many that more wait than web may hold.
test.each([
  { fault: "is gone", many: 20, begin: () => docker("network", "disconnect", name, ingest), end: appear },
  { fault: "hangs", many: 550, begin: () => docker("pause", ingest), end: () => docker("unpause", ingest) },
])(
  "the stack goes down while the server throws and the ingest $fault: the next start delivers every exception",
  async ({ many, begin, end }) => {
    const { ids, ended } = throwing();
    const more = (count: number) => expect.poll(() => ids.length, { timeout: 150_000 }).toBeGreaterThan(count);
    await more(20);
    await begin();
    await more(ids.length + many);
    await compose("down");
    await ended;

    await end();
    const missing = async () => {
      const found = await received();
      return ids.filter((id) => !found.has(id));
    };
    const waited = (await missing()).length;
    expect(waited, "some waited while the stack was down").toBeGreaterThan(0);
    await compose("up", "-d", "--no-build", "--wait", "--wait-timeout", "60");
    await expect.poll(missing, { timeout: 60_000 }).toEqual([]);
    console.log(`${ids.length} exceptions; ${waited} waited while the stack was down, all came after the next start`);
  },
  300_000,
);
