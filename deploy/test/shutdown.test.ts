import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { beforeEach, expect, onTestFailed, test } from "vitest";
import { redirectingForm } from "./load.ts";
import { compose, must, useStack, withServices } from "./run.ts";
import { IMAGES, projectName } from "./support/docker.ts";
import { envelopeOf, Recorder } from "./support/recorder/client.ts";

const name = projectName("shutdown");
const stack = ["proxy", "web", "spool"];
useStack(name, 5, {
  ...withServices(stack.map((service) => `${service}: { image: ${IMAGES}-${service} }`).join()),
  UPSTREAM_URL: "",
  // This machine, which names a client for each request.
  TRUSTED_PROXIES: "0.0.0.0/0",
});
/** Starts what does not run. */
const start = async () => {
  await compose("up", "-d", "--no-build", "--wait", "recorder", ...stack);
  recorder = new Recorder();
};
let recorder: Recorder;
beforeEach(start);

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
      await new Promise((proceed) => setTimeout(proceed, 50));
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
  // By the spool, if the ingest is slow.
  await expect.poll(arrivedTraces).toContain(id);
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
  const site = `https://localhost:${process.env.HTTPS_PORT}`;
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
      // Without the queue of the package, it was 958.
      expect(statuses.length - before, "pages of the flood that came first").toBeLessThan(90);
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
  const renew = () => compose("up", "-d", "--force-recreate", "--wait", "recorder");
  onTestFailed(() => renew().then(() => {}));
  await compose("pause", "recorder");
  const { ids, ended } = throwExceptions();
  await expect.poll(() => ids.length).toBeGreaterThan(60);
  await compose("down", ...stack);
  await ended;
  // The next one has nothing of what this one's connections hold: all of it was queued while the stack was down.
  await renew();
  await start();
  const missing = async () => {
    const found = await arrivedTraces();
    return ids.filter((id) => !found.has(id));
  };
  await expect.poll(missing).toEqual([]);
});
