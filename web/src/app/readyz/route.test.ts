import { isStopping } from "@culvert/nextjs/health";
import { expect, test, vi } from "vitest";
import { GET } from "./route";

vi.mock("@culvert/nextjs/health", () => ({ isStopping: vi.fn() }));
// Outside a request it throws.
vi.mock("next/server", () => ({ connection: vi.fn() }));

test.each([
  [false, 200, "ready\n"],
  [true, 503, "stopping\n"],
])("told to stop: %s, so it responds with %i", async (stopping, status, text) => {
  vi.mocked(isStopping).mockReturnValue(stopping);
  const response = await GET();
  expect([response.status, await response.text()]).toEqual([status, text]);
  expect(response.headers.get("cache-control")).toBe("no-store");
});
