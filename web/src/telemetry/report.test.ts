import { captureException } from "@sentry/nextjs";
import { beforeEach, expect, test, vi } from "vitest";
import { firstRenderDone, isFromServer, noteDocument, reportFromBoundary } from "./report";

vi.mock("@sentry/nextjs", () => ({ captureException: vi.fn(() => "event-id") }));
const loaded = (id: string) => noteDocument({ documentElement: { id } } as Document);
beforeEach(() => loaded(""));

test("an exception of the browser is reported by the boundary that caught it", () => {
  const error = new Error("x");
  expect(isFromServer(error)).toBe(false);
  expect(reportFromBoundary(error)).toBe("event-id");
  expect(captureException).toHaveBeenCalledExactlyOnceWith(error, expect.anything());
});

test("one with a digest is the server's, which has reported it", () => {
  expect(isFromServer(Object.assign(new Error("x"), { digest: "123" }))).toBe(true);
});

test("so is what the browser's first render repeats of a render that failed on the server, and nothing later", () => {
  loaded("__next_error__");
  expect(isFromServer(new Error("x"))).toBe(true);
  firstRenderDone();
  expect(isFromServer(new Error("x"))).toBe(false);
});
