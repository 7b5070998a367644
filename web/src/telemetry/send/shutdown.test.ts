import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
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
