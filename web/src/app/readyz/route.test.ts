import { afterEach, expect, test, vi } from "vitest";
import { flushOnShutdown } from "../../telemetry/send/shutdown";
import { GET } from "./route";

const realExit = process.exit;
afterEach(() => {
  process.exit = realExit;
});

test("the process is ready until it is told to stop", async () => {
  const before = GET();
  expect([before.status, await before.text()]).toEqual([200, "ready\n"]);

  vi.useFakeTimers();
  flushOnShutdown();
  process.emit("SIGTERM");
  vi.useRealTimers();

  const after = GET();
  expect([after.status, await after.text()]).toEqual([503, "stopping\n"]);
  expect(after.headers.get("cache-control")).toBe("no-store");
});
