import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { close } from "@sentry/nextjs";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { flushOnShutdown, isStopping } from "./shutdown";

vi.mock("@sentry/nextjs", () => ({ close: vi.fn(async () => true) }));

const realExit = process.exit;
const exit = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  process.exit = exit as never;
  flushOnShutdown();
});
afterEach(() => {
  process.exit = realExit;
  vi.useRealTimers();
});

test("a closing server does not end a connection on which a request may be arriving", async () => {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { port } = server.address() as AddressInfo;
  const ask = () =>
    new Promise<boolean>((resolve, reject) => {
      const outgoing = request({ host: "127.0.0.1", port, agent, method: "POST" });
      outgoing.on("response", (answer) => answer.resume().on("end", () => resolve(outgoing.reusedSocket)));
      outgoing.on("error", reject).end();
    });
  await ask();
  server.close();
  expect(await ask()).toBe(true);
});

/** Sends a form from another thread; sets `state` once it is connected. */
const sender = `
  const { parentPort, workerData: { port, state } } = require("node:worker_threads");
  const socket = require("node:net").connect(port, "127.0.0.1", () => {
    socket.write("POST / HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n");
    Atomics.store(state, 0, 1);
    Atomics.notify(state, 0);
  });
  socket.on("data", (data) => parentPort.postMessage(String(data))).on("error", ({ code }) => parentPort.postMessage(code));
`;

test("a connection that waits for a busy process is accepted before the server closes", async () => {
  vi.useRealTimers();
  const server = createServer((_, response) => response.end());
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  const state = new Int32Array(new SharedArrayBuffer(4));
  const { port } = server.address() as AddressInfo;
  const worker = new Worker(sender, { eval: true, workerData: { port, state } });
  const answer = new Promise((resolve) => worker.once("message", resolve));
  Atomics.wait(state, 0, 0);
  server.close();
  expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  await worker.terminate();
});

test("after SIGTERM each response closes its connection, however busy it is", async () => {
  const server = createServer((_, response) => response.end());
  await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
  const { port } = server.address() as AddressInfo;
  const ask = () => fetch(`http://127.0.0.1:${port}`).then(({ headers }) => headers.get("connection"));
  expect(isStopping()).toBe(false);
  expect(await ask()).toBe("keep-alive");
  process.emit("SIGTERM");
  expect(isStopping()).toBe(true);
  expect(await ask()).toBe("close");
  server.close();
});

test("when Next exits after SIGTERM, events are flushed first and the process ends with 0", async () => {
  process.emit("SIGTERM");
  process.exit(143);
  expect(close).toHaveBeenCalledOnce();
  expect(exit).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(0);
  expect(exit).toHaveBeenCalledExactlyOnceWith(0);
});

test("a request that never ends is cut after ten seconds", async () => {
  process.emit("SIGTERM");
  await vi.advanceTimersByTimeAsync(9_999);
  expect(exit).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(exit).toHaveBeenCalledExactlyOnceWith(0);
});
