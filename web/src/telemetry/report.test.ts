import { captureException } from "@sentry/nextjs";
import { beforeEach, expect, test, vi } from "vitest";
import { reportFromBoundary } from "./report";

vi.mock("@sentry/nextjs", () => ({ captureException: vi.fn() }));
beforeEach(() => vi.mocked(captureException).mockClear());

test("an exception of the browser is reported by the boundary that caught it", () => {
  const error = new Error("x");
  reportFromBoundary(error);
  expect(captureException).toHaveBeenCalledExactlyOnceWith(error, expect.anything());
});

test("an exception of the server is not: it was reported there", () => {
  reportFromBoundary(Object.assign(new Error("x"), { digest: "123" }));
  expect(captureException).not.toHaveBeenCalled();
});
