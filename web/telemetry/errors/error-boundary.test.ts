import { dedupeIntegration, init } from "@sentry/browser";
import { expect, test, vi } from "vitest";
import { culvertIntegration } from "../integration.js";
import { isReporting, markShown, reportFromBoundary, serverError, serverEventId } from "./error-boundary.js";

vi.mock("@sentry/nextjs", () => import("@sentry/browser"));
/** A page whose parts with these digests failed on the server. */
const showing = (...digests: string[]) =>
  ({
    documentElement: { id: "" },
    querySelectorAll: () => digests.map((digest) => ({ getAttribute: () => digest })),
  }) as unknown as Document;

test("without telemetry there is no event id", () => {
  expect(isReporting()).toBe(false);
  expect(reportFromBoundary(new Error("x"))).toBeUndefined();
  expect(serverEventId("a".repeat(32))).toBeUndefined();
});

test("an exception of the browser is sent by the boundary that caught it, which returns its event id", () => {
  const events: { event_id?: string }[] = [];
  init({
    dsn: "https://key@ingest.example/1",
    defaultIntegrations: [
      dedupeIntegration(),
      culvertIntegration(undefined, { addRequestId: (event) => event }) as never,
    ],
    transport: () => ({
      send: async ([, [[, event]]]) => ({ statusCode: events.push(event as object) && 200 }),
      flush: async () => true,
    }),
  });
  expect(isReporting()).toBe(true);
  // A retry throws it again: the SDK sends no second event.
  const [id, again] = [1, 2].map(() => reportFromBoundary(new Error("x")));
  expect(events).toMatchObject([{ event_id: id, exception: { values: [{ value: "x" }] } }]);
  expect(again).toBe(id);
  expect(reportFromBoundary(new Error("ResizeObserver loop limit exceeded"))).toBeUndefined();
  expect(events).toHaveLength(1);
});

test("the id of the server's event is that of its request, unless requestIds is off", () => {
  expect(serverEventId("a".repeat(32))).toBe("a".repeat(32));
  vi.stubEnv("CULVERT_REQUEST_IDS", "off");
  expect(serverEventId("a".repeat(32))).toBeUndefined();
});

test("an error is the server's if it has a digest, or is of the first render after rendering failed on the server", () => {
  expect(serverError(Object.assign(new Error("x"), { digest: "123" }), showing("9"))).toEqual({ digest: "123" });
  const bare = { ...showing(), documentElement: { id: "__next_error__" } } as unknown as Document;
  expect(serverError(new Error("x"), bare)).toEqual({ digest: undefined });
  expect(serverError(new Error("x"), showing())).toBeUndefined();
});

test("so is one error for each part that the server left to the browser", () => {
  const page = showing("", "41", "42");
  for (const digest of ["41", "42"]) {
    // React may render the error page twice before it shows it.
    for (let render = 0; render < 2; render++) expect(serverError(new Error("x"), page)).toEqual({ digest });
    markShown(digest);
  }
  expect(serverError(new Error("x"), page)).toBeUndefined();
});
