import { captureException } from "@sentry/nextjs";
import { beforeEach, expect, test, vi } from "vitest";
import { claim, firstRenderDone, noteDocument, reportFromBoundary, serverError } from "./report";

vi.mock("@sentry/nextjs", () => ({ captureException: vi.fn(() => "event-id") }));
const loaded = (id: string) => noteDocument({ documentElement: { id } } as Document);
beforeEach(() => loaded(""));

/** A page in which parts with these digests failed on the server. */
const showing = (...digests: string[]) =>
  ({ querySelectorAll: () => digests.map((digest) => ({ getAttribute: () => digest })) }) as unknown as Document;

test("an exception of the browser is reported by the boundary that caught it", () => {
  const error = new Error("x");
  expect(serverError(error, showing())).toBeUndefined();
  expect(reportFromBoundary(error)).toBe("event-id");
  expect(captureException).toHaveBeenCalledExactlyOnceWith(error, expect.anything());
});

test("one with a digest is the server's, which has reported it", () => {
  expect(serverError(Object.assign(new Error("x"), { digest: "123" }), showing("9"))).toEqual({ digest: "123" });
});

test("so is what the browser's first render repeats of a render that failed on the server, and nothing later", () => {
  loaded("__next_error__");
  expect(serverError(new Error("x"), showing())).toEqual({ digest: undefined });
  firstRenderDone();
  expect(serverError(new Error("x"), showing())).toBeUndefined();
});

test("so is one exception for each part that the server left to the browser", () => {
  const page = showing("", "41", "42");
  expect(serverError(new Error("x"), page)).toEqual({ digest: "41" });
  // React may render the error page twice before it shows it.
  expect(serverError(new Error("x"), page)).toEqual({ digest: "41" });
  claim("41");
  expect(serverError(new Error("x"), page)).toEqual({ digest: "42" });
  claim("42");
  expect(serverError(new Error("x"), page)).toBeUndefined();
});
