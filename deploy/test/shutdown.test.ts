import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterAll, beforeEach, expect, test } from "vitest";
import { redirectingForm } from "./load.ts";
import { must, withServices } from "./run.ts";
import { IMAGES, projectName } from "./support/docker.ts";
import { envelopeOf, Recorder } from "./support/recorder/client.ts";

const name = projectName("shutdown");
const stack = ["proxy", "web", "spool"];
const environment = {
  COMPOSE_PROJECT_NAME: name,
  ...withServices(stack.map((service) => `${service}: { image: ${IMAGES}-${service} }`).join()),
  HTTPS_PORT: String(Number(process.env.HTTPS_PORT) + 5),
  HTTP_PORT: String(Number(process.env.HTTP_PORT) + 5),
  RECORDER_PORT: String(Number(process.env.RECORDER_PORT) + 5),
  UPSTREAM_URL: "",
  // This machine, which names a client for each request.
  TRUSTED_PROXIES: "0.0.0.0/0",
};
const compose = (...command: string[]) => must(["docker", "compose", ...command], environment);
const start = (...more: string[]) => compose("up", "-d", "--no-build", "--wait", ...stack, ...more);

const recorder = new Recorder(`http://127.0.0.1:${environment.RECORDER_PORT}`);
beforeEach(() => start("recorder"));
afterAll(() => compose("down", "--volumes", "-t", "0"));

/** Has web's server throw until web stops. Every 500 is an exception; `ids` are trace ids. */
function throwExceptions() {
  const loop = `const throwInTurn = async () => {
    for (;;) {
      const id = crypto.randomUUID().replaceAll("-", "");
      const headers = { "sentry-trace": id + "-" + id.slice(16) + "-1" };
      const options = { method: "POST", headers };
      const answer = await fetch("http://127.0.0.1:3000/test-events/route-exception", options);
      await answer.text();
      if (answer.status === 500) console.log(id);
    }
  };
  for (let client = 0; client < 4; client++) throwInTurn().catch(() => {});`;
  const inside = spawn("docker", ["exec", `${name}-web-1`, "node", "-e", loop]);
  const ids: string[] = [];
  createInterface({ input: inside.stdout }).on("line", (id) => ids.push(id));
  return { ids, ended: new Promise((resolve) => inside.on("close", resolve)) };
}

async function arrivedTraces(): Promise<Set<string>> {
  const items = (await recorder.all()).flatMap((request) => envelopeOf(request).items);
  const events = items.filter(({ header }) => header.type === "event");
  return new Set(events.map(({ payload }) => payload.contexts.trace.trace_id));
}

test("web is stopped while after() works: it ends with 0, after the work and its event", async () => {
  const id = randomUUID().replaceAll("-", "");
  const options = JSON.stringify({ redirect: "manual", headers: { "sentry-trace": `${id}-${id.slice(16)}-1` } });
  const request = `fetch("http://127.0.0.1:3000/test-events/after-response", ${options})`;
  const print = `${request}.then(({ status }) => console.log(status))`;
  expect(await compose("exec", "-T", "web", "node", "-e", print)).toBe("307");
  await compose("stop", "web");
  expect(await must(["docker", "inspect", "-f", "{{.State.ExitCode}}", `${name}-web-1`])).toBe("0");
  expect(await arrivedTraces()).toContain(id);
});

async function ask(session: ClientHttp2Session, client: string, path = "/", body?: FormData | string) {
  const form = body === undefined ? undefined : new Response(body);
  const type = form && { ":method": "POST", "content-type": form.headers.get("content-type") ?? "" };
  const stream = session.request({ ":path": path, accept: "text/html", "x-forwarded-for": client, ...type });
  stream.end(form && Buffer.from(await form.arrayBuffer()));
  const [headers] = await once(stream, "response");
  return { status: Number(headers[":status"]), body: await text(stream) };
}

test("while one client floods web, another one is served; when web is stopped, the flood has its pages", async () => {
  const site = `https://localhost:${environment.HTTPS_PORT}`;
  const sessions = Array.from({ length: 4 }, () => connect(site, { rejectUnauthorized: false }));
  const [other, ...flooding] = sessions as [ClientHttp2Session, ...ClientHttp2Session[]];
  const form = redirectingForm((await ask(other, "198.51.100.1", "/test-events")).body);

  // 120 are open all the time, below the limit of a client.
  const statuses: number[] = [];
  let isFlooding = true;
  const flood = async (session: ClientHttp2Session) => {
    while (isFlooding) statuses.push((await ask(session, "203.0.113.1")).status);
  };
  const open = Promise.allSettled(flooding.flatMap((session) => Array.from({ length: 40 }, () => flood(session))));
  await expect.poll(() => statuses.length).toBeGreaterThan(0);
  try {
    const envelope = '{"dsn":"http://culvert@recorder:9000/1"}\n';
    const asked: [string, number, (FormData | string)?][] = [
      ["/", 200],
      ["/test-events", 303, form],
      ["/monitoring", 200, envelope],
    ];
    for (const [path, status, body] of asked) {
      const before = statuses.length;
      expect((await ask(other, "198.51.100.1", path, body)).status).toBe(status);
      expect(statuses.length - before, "pages of the flood that came first").toBeLessThan(50);
    }
  } finally {
    isFlooding = false;
  }
  // Rendering 120 pages can take longer than web's grace period.
  await compose("stop", "-t", "300", "web");
  expect((await open).filter(({ status }) => status === "rejected")).toEqual([]);
  expect(new Set(statuses)).toEqual(new Set([200]));
  for (const session of sessions) session.close();
});

test("down while the server throws and the ingest hangs: the next start delivers every exception", async () => {
  const { ids, ended } = throwExceptions();
  const atLeast = (min: number) => expect.poll(() => ids.length).toBeGreaterThan(min);
  await atLeast(20);
  await compose("pause", "recorder");
  await atLeast(ids.length + 60);
  await compose("down", ...stack);
  await ended;

  await compose("unpause", "recorder");
  const missing = async () => {
    const found = await arrivedTraces();
    return ids.filter((id) => !found.has(id));
  };
  expect((await missing()).length, "some were queued while the stack was down").toBeGreaterThan(0);
  await start();
  await expect.poll(missing).toEqual([]);
});
