import { createServer } from "node:http";
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

test("after SIGTERM a connection is asked to send no more, busy as it may be", async () => {
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

test("when Next is done after SIGTERM, the reports are flushed first and the process ends with 0", async () => {
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
