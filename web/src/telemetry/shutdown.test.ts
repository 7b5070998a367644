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

test("when Next is done after SIGTERM, the reports are flushed first and the process ends with 0", async () => {
  expect(isStopping()).toBe(false);
  process.emit("SIGTERM");
  expect(isStopping()).toBe(true);
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
