import { isStopping } from "@culvert/nextjs/health";
import { expect, test, vi } from "vitest";
import { GET } from "./route";

vi.mock("@culvert/nextjs/health", () => ({ isStopping: vi.fn(() => false) }));

test("the process is ready until it is told to stop", async () => {
  const before = GET();
  expect([before.status, await before.text()]).toEqual([200, "ready\n"]);

  vi.mocked(isStopping).mockReturnValue(true);
  const after = GET();
  expect([after.status, await after.text()]).toEqual([503, "stopping\n"]);
  expect(after.headers.get("cache-control")).toBe("no-store");
});
