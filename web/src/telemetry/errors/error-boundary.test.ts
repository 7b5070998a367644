import { dedupeIntegration, init } from "@sentry/browser";
import { beforeEach, expect, test, vi } from "vitest";
import { judge } from "../options";
import { claim, firstRenderDone, isReporting, noteDocument, reportFromBoundary, serverError } from "./error-boundary";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));
const loaded = (id: string) => noteDocument({ documentElement: { id } } as Document);
beforeEach(() => loaded(""));

/** A page in which parts with these digests failed on the server. */
const showing = (...digests: string[]) =>
  ({ querySelectorAll: () => digests.map((digest) => ({ getAttribute: () => digest })) }) as unknown as Document;

test("where nothing is reported, no event has an id", () => {
  expect(isReporting()).toBe(false);
  expect(reportFromBoundary(new Error("x"))).toBeUndefined();
});

test("an exception of the browser is reported by the boundary that caught it, and has its event's id", () => {
  const events: { event_id?: string }[] = [];
  init({
    dsn: "https://key@ingest.example/1",
    defaultIntegrations: [dedupeIntegration()],
    beforeSend: judge,
    transport: () => ({
      send: async ([, [[, event]]]) => ({ statusCode: events.push(event as object) && 200 }),
      flush: async () => true,
    }),
  });
  expect(isReporting()).toBe(true);
  expect(serverError(new Error("x"), showing())).toBeUndefined();
  // A retry meets it again: the SDK sends no second event.
  const [id, again] = [1, 2].map(() => reportFromBoundary(new Error("x")));
  expect(events).toMatchObject([{ event_id: id, exception: { values: [{ value: "x" }] } }]);
  expect(again).toBe(id);
  expect(reportFromBoundary(new Error("ResizeObserver loop limit exceeded"))).toBeUndefined();
  expect(events).toHaveLength(1);
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
